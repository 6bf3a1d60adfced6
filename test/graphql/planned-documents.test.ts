import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import { demoKey, seedDemo } from '../../src/demo/demo.ts'
import { tourTabs } from '../../src/demo/tour.ts'
import { createDocumentCache } from '../../src/graphql/documents/document-caches.ts'
import { apiKeyById } from '../../src/modules/merchants/repository.ts'
import { createService } from '../../src/operations/context.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'
import { createPayout, documents, lastPayouts } from '../bench/documents.ts'
import { newDatabase } from '../support/app.ts'
import * as typedDocuments from './documents/documents.ts'
import { bothWays } from './support/execution-comparison.ts'

test('every document of the benchmark and of the typed documents has a plan', () => {
  const prepare = createDocumentCache(sandboxSchema)
  const typed = Object.entries(typedDocuments).flatMap(([name, each]) =>
    name.endsWith('Document') ? [String(each)] : [],
  )
  const allDocuments = [...Object.values(documents), createPayout, lastPayouts, ...typed]
  const left = allDocuments.filter((query) => {
    const document = prepare(query)
    if ('errors' in document) throw document.errors[0]
    return document.operations.some(({ planFor }) => planFor({ sources: {}, coerced: {} }) === null)
  })
  expect(left).toEqual([])
  expect(allDocuments.length).toBeGreaterThan(9)
})

test('a plan executes every query of the GraphiQL tour', async () => {
  const { url, remove } = await newDatabase('sqlite')
  const db = await openDatabase({ url, onFatal: () => {} })
  onTestFinished(async () => {
    await db.close()
    await remove()
  })
  const service = createService({ db, mode: 'sandbox' })
  await seedDemo(service)
  const merchantId = (await apiKeyById(db, { id: demoKey.id }))?.merchantId as string
  const { planned } = bothWays(service, merchantId)
  const tour = await tourTabs(service)
  const run = tour.filter(({ query }) => !/^subscription/m.test(query))
  for (const { query, variables } of run) {
    const answered = await planned({ query, variables: JSON.parse(variables ?? '{}') })
    expect(answered, query).toMatchObject({ isPlanned: true })
  }
  expect(run.length).toBe(tour.length - 1)
})
