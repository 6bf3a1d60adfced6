import { expect, test } from 'vitest'
import { createContext } from '../../src/context.ts'
import { createPayout } from '../../src/payouts/create-payout.ts'
import { nigerian } from '../payouts/payout-places.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'

test.each(everyEngine)('a payout is found by the key that it was made with, by its merchant, on %s', async (engine) => {
  const app = await startApp(engine)
  await app.wallet({ balance: '10' })
  const keyed = createContext(app.service, app.merchant.id, 'my payout')
  const { id } = await perform(createPayout, keyed, { assetCode: 'USDC', amount: '1', ...nigerian })

  const payout = async (given: string, options = {}) => {
    const { body } = await app.graphql(`{payout(${given}) {uuid status}}`, {}, options)
    return body.errors?.[0]?.extensions ?? body.data.payout
  }
  expect(await payout('idempotencyKey: "my payout"')).toEqual({ uuid: id, status: 'PROCESSING' })
  expect(await payout(`id: "${id}"`)).toEqual({ uuid: id, status: 'PROCESSING' })
  expect(await payout('idempotencyKey: "another"')).toBeNull()
  expect(await payout('idempotencyKey: "my payout"', { key: (await app.otherMerchant()).apiKey })).toBeNull()
  for (const [given, field, code] of [
    ['id: null', 'id', 'MISSING_REQUIRED_FIELD'],
    [`id: "${id}", idempotencyKey: "my payout"`, 'id', 'INVALID_PARAMETER'],
    ['idempotencyKey: ""', 'idempotencyKey', 'INVALID_FORMAT'],
  ] as const) {
    expect(await payout(given)).toMatchObject({ code: 'INVALID_INPUT', fields: [{ field, code }] })
  }

  const settle =
    'mutation {simulatePayout(input: {payoutIdempotencyKey: "", status: FAILED}) {... on InvalidInputError {field}}}'
  const { body } = await app.graphql(settle)
  expect(body.data.simulatePayout).toEqual({ field: 'payoutIdempotencyKey' })
})
