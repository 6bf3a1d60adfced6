import { describe, expect, test } from 'vitest'
import { requireMerchantContext } from '../../../src/cli/command.ts'
import { suspendWalletAction } from '../../../src/modules/operators/actions/wallet-actions.ts'
import { findPayoutAcrossMerchants } from '../../../src/modules/operators/find-payout.ts'
import { createOwnerContext } from '../../../src/modules/operators/owner-context.ts'
import { advanceClock } from '../../../src/modules/rails/orders/advance-clock.ts'
import { createWebhookEndpoint } from '../../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import type { Engine } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'

const dayMs = 24 * 3_600_000

async function startWithClockAhead(engine: Engine) {
  const app = await startApp(engine, { clock: () => Date.parse('2026-03-01T10:00:00.000Z') })
  await perform(advanceClock, app.context(), { by: 'P1D' })
  const create = async (path: string, body: object): Promise<{ id: string; created_at: string }> =>
    (await app.rest('POST', path, { body })).body.data
  const createWallet = () => create('/api/wallets', { currency: 'USDC', description: 'Test', network: 'solana' })
  return { app, create, createWallet }
}

describe.each(everyEngine)('if a merchant’s sandbox clock is a day ahead, on %s,', (engine) => {
  test('the suspension of a wallet by an operator has the merchant’s time', async () => {
    const { app, createWallet } = await startWithClockAhead(engine)
    const { id: walletId, created_at } = await createWallet()
    expect(created_at).toBe('2026-03-02T10:00:00.000Z')
    await perform(advanceClock, app.context(), { by: 'PT1H' })
    await suspendWalletAction.run(app.service, { walletId, reason: 'stolen phone' })
    const { body } = await app.rest('GET', `/api/wallets/${walletId}`)
    expect(body.data).toMatchObject({ status: 'suspended', created_at, updated_at: '2026-03-02T11:00:00.000Z' })
  })

  test('operators act with the merchant’s clock on each of the merchant’s objects', async () => {
    const { app, create, createWallet } = await startWithClockAhead(engine)
    const merchant = app.merchant.id
    const customer = await app.customer()
    const { id: wallet } = await createWallet()
    await app.wallet({ balance: '100' })
    const { id: payout } = await create('/api/payouts/banks', payoutBody)
    const { id: webhook } = await perform(createWebhookEndpoint, app.context(), { url: 'https://example.com/hooks' })
    const contexts = [
      await createOwnerContext(app.service, 'customer', customer),
      await createOwnerContext(app.service, 'wallet', wallet),
      await createOwnerContext(app.service, 'payout', payout),
      await createOwnerContext(app.service, 'webhook', webhook),
      (await findPayoutAcrossMerchants(app.service, payout)).context,
      await requireMerchantContext(app.service, {}),
      await requireMerchantContext(app.service, { merchant }),
    ]
    const expected = { merchantId: merchant, aheadMs: dayMs }
    expect(contexts.map(({ merchantId, aheadMs }) => ({ merchantId, aheadMs }))).toEqual(contexts.map(() => expected))
  })
})
