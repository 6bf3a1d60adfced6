import { describe, expect, onTestFinished, test } from 'vitest'
import { addDocuments } from '../../../src/modules/trusted-documents/manage-documents.ts'
import { watchTrustedDocuments } from '../../../src/modules/trusted-documents/watch-documents.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'

const merchantQuery = '{ merchant { name } }'
const addTrustedDocuments = (app: App, ...ids: string[]) => {
  const manifest = JSON.stringify(Object.fromEntries(ids.map((id) => [id, merchantQuery])))
  return addDocuments(app.service, { manifest, validate: () => [] })
}

/** Watches the documents with counted reads; without `hasVersions` the engine reports no changes. */
function startWatching(app: App, { hasVersions }: { hasVersions: boolean }) {
  const observed = { reads: 0, ids: [] as string[] }
  const slow = { wait: async () => {} }
  const execute: App['db']['execute'] = async (query, params) => {
    observed.reads++
    const rows = await app.db.execute<never>(query, params)
    await slow.wait()
    return rows
  }
  const tableVersion = hasVersions ? app.db.tableVersion : () => null
  const service = { ...app.service, db: { ...app.db, execute, tableVersion } }
  const apply = async (changed: readonly { id: string }[]) => void observed.ids.push(...changed.map(({ id }) => id))
  const watcher = watchTrustedDocuments(service, { isWaitedFor: false, apply })
  onTestFinished(watcher.stop)
  return { observed, slow, watcher }
}

describe.each(everyEngine)('watchTrustedDocuments on %s', (engine) => {
  test('shares a few reads among many concurrent lookups of unknown ids, and finds documents added before a lookup', async () => {
    const app = await startApp(engine)
    const { observed, slow, watcher } = startWatching(app, { hasVersions: false })
    await watcher.start()
    expect(observed).toEqual({ reads: 1, ids: [] })
    const first = Promise.withResolvers<void>()
    slow.wait = () => first.promise
    const missing = [watcher.refreshAfterMiss()]
    await expect.poll(() => observed.reads).toBe(2)
    await addTrustedDocuments(app, 'late')
    for (let count = 0; count < 100; count++) missing.push(watcher.refreshAfterMiss())
    first.resolve()
    await Promise.all(missing)
    expect(observed.ids).toEqual(['late'])
    // A miss that finds a document also enables reads after each change.
    expect(observed.reads).toBeLessThan(10)
  })
})

test('watchTrustedDocuments on sqlite reads only after a change of the documents', async () => {
  const app = await startApp('sqlite')
  const { observed, watcher } = startWatching(app, { hasVersions: true })
  await watcher.start()
  for (let count = 0; count < 100; count++)
    expect([watcher.refreshIfChanged(), watcher.refreshAfterMiss()]).toEqual([undefined, undefined])
  await app.customer()
  expect(watcher.refreshIfChanged()).toBeUndefined()
  expect(observed.reads).toBe(1)
  await addTrustedDocuments(app, 'a', 'b')
  await watcher.refreshIfChanged()
  expect(observed).toEqual({ reads: 2, ids: ['a', 'b'] })
  expect(watcher.refreshIfChanged()).toBeUndefined()
})
