import { DomainError } from '../../../src/core/errors.ts'
import { formatAmount } from '../../../src/core/money/amount.ts'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { payouts } from '../../../src/modules/payouts/list.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { setFee } from '../../../src/modules/pricing/fees.ts'
import { changeWalletStatus } from '../../../src/modules/wallets/change-wallet-status.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import type { Service } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import { sampleCustomer } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import type { Outcome, Owner, Step } from './model.ts'

/** Creates a merchant with two customers, and functions that run steps of the model with the service. */
export async function startMerchant(service: Service) {
  const { id: merchantId } = await createMerchant(service, { name: 'Model' })
  const context = (key: string | null = null) => createContext(service, merchantId, key)
  const [first, second] = await Promise.all([
    perform(createCustomer, context(), sampleCustomer),
    perform(createCustomer, context(), sampleCustomer),
  ])
  const customerIds = { 'first customer': first.id, 'second customer': second.id, nobody: service.newId() }
  const customerIdOf = (owner: Owner) => (owner === 'merchant' ? null : customerIds[owner])
  const walletIds: string[] = []
  const payoutIds: string[] = []

  const calls: { [Kind in Step['kind']]: (step: Extract<Step, { kind: Kind }>) => Promise<Outcome> } = {
    'open wallet': async ({ owner, asset }) => {
      const customerId = customerIdOf(owner)
      const wallet = await perform(createWallet, context(), {
        currency: asset,
        description: 'Model',
        customerId,
        network: 'solana',
      })
      return { opened: walletIds.push(wallet.id) - 1 }
    },
    deposit: async ({ wallet, amount, reference }) => {
      const walletId = walletIds[wallet % walletIds.length] ?? ''
      const { balanceAfter } = await depositToWallet(context(), { walletId, amount: formatAmount(amount), reference })
      return { deposited: wallet % walletIds.length, balanceAfter }
    },
    reverse: async ({ reference }) => {
      const { walletId, balanceAfter } = await reverseDeposit(context(), { reference, reason: 'mistyped' })
      return { reversed: walletIds.indexOf(walletId), balanceAfter }
    },
    payout: async ({ owner, pair, amount, key }) => {
      const { result, isReplayed } = await createPayout(context(key), {
        customerId: customerIdOf(owner),
        assetCode: pair.asset,
        amount: formatAmount(amount),
        ...recipients[pair.currency],
      })
      const { id, walletId, balanceAfter, ...created } = result
      if (!payoutIds.includes(id)) payoutIds.push(id)
      return {
        paid: payoutIds.indexOf(id),
        wallet: walletIds.indexOf(walletId),
        amount: created.amount,
        fee: created.fee,
        balanceAfter,
        isReplayed,
      }
    },
    settle: async ({ payout, status }) => {
      const payoutId = payoutIds[payout % payoutIds.length] ?? ''
      const settled = await settlePayout(context(), { payoutId, status })
      return { settled: payoutIds.indexOf(settled.id), status: settled.status }
    },
    'set fee': async ({ pair: { asset, currency }, flat, percent }) => {
      const [flatText, percentText] = [formatAmount(flat), formatAmount(percent * 100n)]
      await setFee(service, { assetCode: asset, recipientCurrency: currency, flat: flatText, percent: percentText })
      return 'done'
    },
    'change status': async ({ wallet, status }) => {
      await changeWalletStatus(context(), { walletId: walletIds[wallet % walletIds.length] ?? '', status })
      return 'done'
    },
    'close customer': async ({ owner }) => {
      await perform(closeCustomer, context(), { customerId: customerIdOf(owner) ?? merchantId })
      return 'done'
    },
  }

  return {
    run: (step: Step): Promise<Outcome> => outcomeOf((calls[step.kind] as (step: Step) => Promise<Outcome>)(step)),
    async state() {
      const wallets = await Promise.all(walletIds.map((walletId) => getWallet(context(), { walletId })))
      const { items } = await payouts.page(context(), { limit: 100 })
      return {
        balances: wallets.map(({ balance }) => balance),
        payouts: items.map(({ status }) => status).reverse(),
      }
    },
  }
}

const recipient = { accountNumber: '0690000031', bankName: 'Bank', bankCode: '044', recipientName: 'Ada Obi' }
const recipients = {
  NGN: { ...recipient, recipientCurrency: 'NGN', recipientCountry: 'Nigeria' },
  ZAR: { ...recipient, recipientCurrency: 'ZAR', recipientCountry: 'South Africa' },
} as const

async function outcomeOf(call: Promise<Outcome>): Promise<Outcome> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const { available, required } = error.details
    const amounts = available !== undefined && required !== undefined && { available, required }
    return { refusal: error.code, ...amounts }
  }
}
