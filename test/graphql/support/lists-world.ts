import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from '../../../src/modules/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../../../src/modules/payout-methods/delete-payout-method.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { simulatePayout } from '../../../src/modules/payouts/simulate-payout.ts'
import { changeWalletStatus } from '../../../src/modules/wallets/change-wallet-status.ts'
import { createWebhookEndpoint } from '../../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import type { Engine } from '../../support/app.ts'
import { startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'

export type ListsWorld = Awaited<ReturnType<typeof startLists>>

/** A merchant whose every list has several rows of every kind, a second apart. */
export async function startLists(engine: Engine) {
  let nowMs = Date.parse('2026-05-01T12:00:00.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  const later = <Result>(make: () => Promise<Result>) => {
    nowMs += 1_000
    return make()
  }
  const bankMethod = (customerId: string | null, currency: string) =>
    later(() =>
      perform(createBankPayoutMethod, app.context(), {
        type: 'BANK',
        accountName: 'Ada Obi',
        accountNumber: '0690000032',
        bankName: 'Access Bank',
        bankCode: '044',
        customerId,
        currency,
      }),
    )
  const cryptoMethod = (customerId: string | null) =>
    later(() =>
      perform(createWalletPayoutMethod, app.context(), {
        type: 'WALLET',
        walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
        network: 'erc20',
        currency: 'USDC',
        customerId,
      }),
    )
  const payout = (customerId: string | null, assetCode: 'USDC' | 'USDT', recipientCurrency: 'NGN' | 'ZAR' = 'NGN') =>
    later(async () => {
      const { id } = await perform(createPayout, app.context(), {
        customerId,
        assetCode,
        amount: '1',
        accountNumber: '0690000032',
        bankName: 'Access Bank',
        bankCode: '044',
        recipientName: 'Ada Obi',
        recipientCurrency,
        recipientCountry: recipientCurrency === 'NGN' ? 'Nigeria' : 'South Africa',
      })
      return id
    })
  const settle = (payoutId: string, status: 'COMPLETED' | 'FAILED' | 'RETURNED') =>
    later(() => perform(simulatePayout, app.context(), { payoutId, status }))

  const customers: string[] = []
  for (const customerType of ['individual', 'business', 'individual', 'individual', 'business'] as const) {
    const businessName = customerType === 'business' ? 'Obi & Sons' : undefined
    customers.push(await later(() => app.customer({ customerType, businessName })))
  }
  const [person = '', company = '', closed = ''] = customers
  await perform(closeCustomer, app.context(), { customerId: closed })

  const owners = [null, person, company]
  const wallets: { id: string; owner: string | null }[] = []
  for (const assetCode of ['USDC', 'NGN', 'USDT', 'ZAR']) {
    for (const owner of owners) {
      const id = await later(() => app.wallet({ assetCode, balance: '1000', ...(owner && { customerId: owner }) }))
      wallets.push({ id, owner })
      if (assetCode === 'ZAR') await changeWalletStatus(app.context(), { walletId: id, status: 'suspended' })
    }
  }
  for (const currency of ['NGN', 'ZAR', 'NGN']) {
    for (const owner of owners) {
      await bankMethod(owner, currency)
      await cryptoMethod(owner)
    }
  }
  for (const owner of owners) {
    const { id: payoutMethodId } = await bankMethod(owner, 'NGN')
    await perform(deletePayoutMethod, app.context(), { payoutMethodId, customerId: owner })
    await bankMethod(owner, 'NGN')
  }
  for (const owner of owners) {
    await settle(await payout(owner, 'USDC'), 'FAILED')
    await settle(await payout(owner, 'USDC', 'ZAR'), 'COMPLETED')
    const returned = await payout(owner, 'USDT')
    await settle(returned, 'COMPLETED')
    await settle(returned, 'RETURNED')
    await payout(owner, 'USDC')
    await payout(owner, 'USDT', 'ZAR')
  }
  for (const last of ['a', 'b', 'c', 'd']) {
    await later(() => perform(createWebhookEndpoint, app.context(), { url: `https://example.com/${last}` }))
  }
  const usdcWalletOf = (owner: string | null) => wallets.find((wallet) => wallet.owner === owner)?.id ?? ''
  return {
    app,
    person,
    company,
    wallets: { merchant: usdcWalletOf(null), person: usdcWalletOf(person) },
    parents: { Customer: [person, company], Wallet: [usdcWalletOf(null), usdcWalletOf(person)] },
    payout,
    later,
  }
}
