import { describe, expect, test } from 'vitest'
import { findPayoutAcrossMerchants, searchPayouts } from '../../../src/modules/operators/find-payout.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { cli, createEmptyInstallation } from '../../support/process.ts'
import { nigerian } from '../payouts/payout-places.ts'

const payout = { assetCode: 'USDC', amount: '10', ...nigerian } as const

describe.each(everyEngine)('operator lookup of a payout on %s', (engine) => {
  test('finds the payout by id, transaction id, reference id and idempotency key', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    for (let i = 0; i < 3; i++) await perform(createPayout, app.context(), payout)
    const { result: created } = await createPayout(createContext(app.service, app.merchant.id, 'order 17'), payout)
    await perform(createPayout, app.context(), payout)

    const names = [created.id, created.transactionId, created.referenceId, 'order 17']
    for (const name of [...names, created.transactionId.toLowerCase(), ` ${created.referenceId.toUpperCase()} `]) {
      expect([name, (await searchPayouts(app.service, name)).map(({ id }) => id)]).toEqual([name, [created.id]])
    }
    expect(await domainErrorOf(() => findPayoutAcrossMerchants(app.service, '0000000000'))).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    })
    const installation = await createEmptyInstallation({ DATABASE_URL: app.url })
    for (const name of names) {
      expect((await cli(installation, 'payout', 'show', name, '--json')).json()).toMatchObject({ id: created.id })
    }
  })

  test('lists the matching payouts with their merchants if two merchants used the same idempotency key', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const other = createContext(app.service, (await app.otherMerchant()).id, 'order 17')
    const { id: walletId } = await perform(
      createWallet,
      { ...other, idempotencyKey: null },
      {
        ...{ currency: 'USDC', network: 'solana', description: 'Other' },
      },
    )
    await depositToWallet(other, { walletId, amount: '100', reference: 'other' })
    const { result: first } = await createPayout(createContext(app.service, app.merchant.id, 'order 17'), payout)
    const { result: second } = await createPayout(other, payout)

    const installation = await createEmptyInstallation({ DATABASE_URL: app.url })
    const output = await cli(installation, 'payout', 'show', 'order 17')
    expect(output.code).toBe(1)
    expect(output.stderr).toContain(`${first.id} of Test merchant`)
    expect(output.stderr).toContain(`${second.id} of Other merchant`)
    expect((await cli(installation, 'payout', 'show', second.transactionId, '--json')).json()).toMatchObject({
      id: second.id,
    })
  })
})
