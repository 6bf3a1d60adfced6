import { describe, expect, test } from 'vitest'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { getPayout, getPayoutByLookup } from '../../../src/modules/payouts/get-payout.ts'
import { simulatePayout } from '../../../src/modules/payouts/simulate-payout.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows, tamperWith } from '../../support/stored.ts'
import { createRailPayout, railOrderOf } from '../rails/support/rail-payouts.ts'
import { absentId, nigerian } from './payout-places.ts'

describe.each(everyEngine)('simulatePayout on %s', (engine) => {
  async function startWithPayout() {
    const app = await startApp(engine)
    await app.fee('0.5')
    const walletId = await app.wallet({ balance: '100' })
    const { id: payoutId } = await perform(createPayout, app.context(), {
      assetCode: 'USDC',
      amount: '40',
      ...nigerian,
    })
    const balance = async () => (await getWallet(app.context(), { walletId })).balance
    return { app, payoutId, balance }
  }

  test.each([
    [['COMPLETED'], 59_50000000n],
    [['FAILED'], 100_00000000n],
    [['COMPLETED', 'RETURNED'], 100_00000000n],
  ] as const)('settles a payout as if a bank reported the statuses %j', async (statuses, balanceAfter) => {
    const { app, payoutId, balance } = await startWithPayout()
    for (const status of statuses) {
      const payout = await perform(simulatePayout, app.context(), { payoutId, status, cause: `it is ${status}` })
      expect(payout.status).toBe(status)
      expect(await getPayout(app.context(), { payoutId })).toEqual(payout)
    }
    expect(await balance()).toBe(balanceAfter)
    const { payout_events: events = [] } = await readStoredRows(app)
    expect(events.map((event) => JSON.parse(event).cause)).toEqual(statuses.map((status) => `it is ${status}`))
    await app.expectBooksToBalance()
  })

  test('finds the payout by its idempotency key and settles it once', async () => {
    const { app, payoutId: other } = await startWithPayout()
    const request = { assetCode: 'USDC', amount: '1', ...nigerian } as const
    const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, 'my payout'), request)
    const settle = () =>
      perform(simulatePayout, createContext(app.service, app.merchant.id, 'k'), {
        payoutKey: 'my payout',
        status: 'COMPLETED',
      })

    const [first, repeated] = [await settle(), await settle()]
    expect(first).toMatchObject({ id, status: 'COMPLETED' })
    expect(repeated).toEqual(first)
    expect((await getPayout(app.context(), { payoutId: other })).status).toBe('PROCESSING')
    const stranger = createContext(app.service, (await app.otherMerchant()).id)
    expect(await domainErrorOf(() => getPayoutByLookup(stranger, { payoutKey: 'my payout' }))).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    })
  })

  test.each([
    [{}, 'payoutId', 'MISSING_REQUIRED_FIELD'],
    [{ payoutId: absentId, payoutKey: 'k' }, 'payoutId', 'INVALID_PARAMETER'],
    [{ payoutKey: '' }, 'payoutKey', 'INVALID_FORMAT'],
    [{ payoutKey: 'naïve' }, 'payoutKey', 'INVALID_FORMAT'],
  ] as const)('rejects the lookup %j', async (name, field, code) => {
    const { app } = await startWithPayout()
    for (const lookUp of [
      () => perform(simulatePayout, app.context(), { ...name, status: 'FAILED' }),
      () => getPayoutByLookup(app.context(), name),
    ]) {
      expect((await domainErrorOf(lookUp)).details.fields).toMatchObject([{ field, code }])
    }
  })

  // In order of precedence: each case also has every later error.
  test.each([
    ['SANDBOX_ONLY', 'live', { payoutId: absentId, status: 'PAID' as 'FAILED' }],
    ['INVALID_INPUT', 'sandbox', { payoutId: absentId, status: 'PAID' as 'FAILED' }],
    ['RESOURCE_NOT_FOUND', 'sandbox', { payoutId: absentId, status: 'RETURNED' }],
    ['PAYOUT_STATUS_CONFLICT', 'sandbox', { status: 'RETURNED' }],
  ] as const)('fails with %s and moves no money', async (code, mode, input) => {
    const { app, payoutId } = await startWithPayout()
    const before = await readStoredRows(app)
    const context = { ...app.context(), mode }
    expect((await domainErrorOf(() => perform(simulatePayout, context, { payoutId, ...input }))).code).toBe(code)
    expect(await readStoredRows(app)).toEqual(before)
    await app.expectBooksToBalance()
  })

  test("does not find another merchant's payout", async () => {
    const { app, payoutId } = await startWithPayout()
    const stranger = createContext(app.service, (await app.otherMerchant()).id)
    const error = await domainErrorOf(() => perform(simulatePayout, stranger, { payoutId, status: 'FAILED' }))
    expect(error.message).toBe('Payout not found.')
  })

  test('settles a payout on the sandbox rail, and rejects a payout on another rail', async () => {
    const { app } = await startWithPayout()
    const [own, other] = [await createRailPayout(app.context(), '1'), await createRailPayout(app.context(), '1')]
    const { orderId } = await railOrderOf(app.context(), other.id)
    await tamperWith(app, `update payout_transfers set rail = 'lagos' where order_id = '${orderId}'`)
    const before = await readStoredRows(app)
    expect(
      await domainErrorOf(() => perform(simulatePayout, app.context(), { payoutId: other.id, status: 'COMPLETED' })),
    ).toMatchObject({
      code: 'PAYOUT_STATUS_CONFLICT',
      message: 'The payout is on the rail lagos, where it is QUEUED: only its bank can settle it.',
    })
    expect(await readStoredRows(app)).toEqual(before)
    await perform(simulatePayout, app.context(), { payoutId: own.id, status: 'FAILED', cause: 'closed' })
    expect(await railOrderOf(app.context(), own.id)).toMatchObject({ state: 'REJECTED', dueAt: null })
  })

  test('returns the settled payout again for the same idempotency key, even if its status has changed since', async () => {
    const { app, payoutId } = await startWithPayout()
    const contextWithKey = () => createContext(app.service, app.merchant.id, 'k')
    const request = { payoutId, status: 'COMPLETED' } as const
    const first = await app.service.perform(simulatePayout, contextWithKey(), request)
    await perform(simulatePayout, app.context(), { payoutId, status: 'RETURNED' })
    const repeated = await app.service.perform(simulatePayout, contextWithKey(), request)
    // The operation's name is stored with each key, so renaming the operation would break retries.
    const { idempotency_keys: keys = [] } = await readStoredRows(app)
    expect(keys.map((row) => JSON.parse(row))).toMatchObject([{ key: 'k', operation: 'simulatePayout' }])
    expect([first.isReplayed, repeated.isReplayed, repeated.result]).toEqual([false, true, first.result])
    expect((await getPayout(app.context(), { payoutId })).status).toBe('RETURNED')
    const { code } = await domainErrorOf(() =>
      perform(simulatePayout, contextWithKey(), { payoutId, status: 'RETURNED' }),
    )
    expect(code).toBe('IDEMPOTENCY_KEY_REUSED')
  })
})
