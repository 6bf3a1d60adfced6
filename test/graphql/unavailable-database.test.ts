import { expect, test } from 'vitest'
import { unavailable } from '../../src/core/errors.ts'
import type { Database } from '../../src/database/database.ts'
import { everyExecutor, startApp } from '../support/app.ts'
import { createServerVariant } from './support/ask.ts'

const query =
  '{ wallets(first: 1) { nodes { id } } customers(first: 1) { nodes { id } } payouts(first: 1) { nodes { id } } }'

test('a plan queries an unavailable database no more often than graphql-js does', async () => {
  const app = await startApp('sqlite')
  let queryCount = 0
  // The lookup of the API key comes first.
  const execute: Database['execute'] = (statement, params) =>
    queryCount++ === 0 ? app.db.execute(statement, params) : Promise.reject(unavailable('The database is away.'))
  const service = { ...app.service, db: { ...app.db, execute } }
  const responses = []
  for (const executor of everyExecutor) {
    const server = createServerVariant(app, { executor, service, onLog: () => {} })
    queryCount = 0
    const { statusCode, json } = await server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'x-api-key': app.merchant.apiKey, 'x-request-id': 'same' },
      payload: { query },
    })
    responses.push({ statusCode, body: json(), asked: queryCount })
  }
  const [planned, reference] = responses
  expect(planned).toEqual(reference)
  expect(planned?.statusCode).toBe(503)
})
