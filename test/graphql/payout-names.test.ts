import { expect, test } from 'vitest'
import { createContext } from '../../src/context.ts'
import { createPayout } from '../../src/payouts/create-payout.ts'
import { bearing, tokenFor } from '../client-tokens/support/tokens.ts'
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

test.each(everyEngine)(
  'a payout shows the key that it was made with to its merchant and customer, on %s',
  async (engine) => {
    const app = await startApp(engine)
    const [customerId, other] = [await app.customer(), await app.customer()]
    await app.wallet({ balance: '10', customerId })
    const input = { assetCode: 'USDC', amount: '1', customerId, ...nigerian } as const
    const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, 'my payout'), input)
    const { id: unkeyed } = await perform(createPayout, app.context(), input)

    const keyOf = async (payoutId: string, options = {}) => {
      const { data } = await app.graphql(`{ payout(id: "${payoutId}") { idempotencyKey } }`, {}, options)
      return data.payout?.idempotencyKey ?? null
    }
    expect([await keyOf(id), await keyOf(unkeyed)]).toEqual(['my payout', null])
    expect(await keyOf(id, bearing(await tokenFor(app, customerId)))).toBe('my payout')
    expect(await keyOf(id, bearing(await tokenFor(app, other)))).toBeNull()
    expect(await keyOf(id, { key: (await app.otherMerchant()).apiKey })).toBeNull()
  },
)
