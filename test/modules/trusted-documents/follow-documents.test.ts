import { describe, expect, onTestFinished, test } from 'vitest'
import { addDocuments } from '../../../src/modules/trusted-documents/manage-documents.ts'
import { watchTrustedDocuments } from '../../../src/modules/trusted-documents/watch-documents.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'

const who = '{ merchant { name } }'
const trust = (app: App, ...ids: string[]) => {
  const manifest = JSON.stringify(Object.fromEntries(ids.map((id) => [id, who])))
  return addDocuments(app.service, { manifest, validate: () => [] })
}

/** Follows the documents, as an engine that tells of nothing by itself unless it `isTelling`. */
function following(app: App, { isTelling }: { isTelling: boolean }) {
  const seen = { looks: 0, ids: [] as string[] }
  /** What each look waits for once it has read. */
  const slow = { wait: async () => {} }
  const execute: App['db']['execute'] = async (query, params) => {
    seen.looks++
    const rows = await app.db.execute<never>(query, params)
    await slow.wait()
    return rows
  }
  const version = isTelling ? app.db.tableVersion : () => null
  const service = { ...app.service, db: { ...app.db, execute, tableVersion: version } }
  const apply = async (changed: readonly { id: string }[]) => void seen.ids.push(...changed.map(({ id }) => id))
  const followed = watchTrustedDocuments(service, { isWaitedFor: false, apply })
  onTestFinished(followed.stop)
  return { seen, slow, followed }
}

describe.each(everyEngine)('watchTrustedDocuments on %s', (engine) => {
  test('looks once more for any number who miss a document, and finds what was added before they asked', async () => {
    const app = await startApp(engine)
    const { seen, slow, followed } = following(app, { isTelling: false })
    await followed.start()
    expect(seen).toEqual({ looks: 1, ids: [] })
    const first = Promise.withResolvers<void>()
    slow.wait = () => first.promise
    const missing = [followed.refreshAfterMiss()]
    await expect.poll(() => seen.looks).toBe(2)
    await trust(app, 'late')
    for (let count = 0; count < 100; count++) missing.push(followed.refreshAfterMiss())
    first.resolve()
    await Promise.all(missing)
    expect(seen.ids).toEqual(['late'])
    // The first that finds one has it look whenever something is told, too.
    expect(seen.looks).toBeLessThan(10)
  })
})

test('watchTrustedDocuments on sqlite looks only where something has changed', async () => {
  const app = await startApp('sqlite')
  const { seen, followed } = following(app, { isTelling: true })
  await followed.start()
  for (let count = 0; count < 100; count++)
    expect([followed.refreshIfChanged(), followed.refreshAfterMiss()]).toEqual([undefined, undefined])
  await app.customer()
  expect(followed.refreshIfChanged()).toBeUndefined()
  expect(seen.looks).toBe(1)
  await trust(app, 'a', 'b')
  await followed.refreshIfChanged()
  expect(seen).toEqual({ looks: 2, ids: ['a', 'b'] })
  expect(followed.refreshIfChanged()).toBeUndefined()
})
