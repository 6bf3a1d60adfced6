import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { reportDeposit } from '../../../src/modules/deposits/report-deposit.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from '../../../src/modules/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../../../src/modules/payout-methods/delete-payout-method.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { simulatePayout } from '../../../src/modules/payouts/simulate-payout.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { createWebhookEndpoint } from '../../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import type { Context } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import { makeDueCall, recordReport } from '../../modules/rails/support/rail-payouts.ts'
import type { App } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'

/** Texts and amounts of one merchant, by which its data is recognized in any response. */
export type Words = {
  readonly text: (field: string) => string
  readonly digits: string
  readonly website: string
  readonly iban: string
  readonly bic: string
  readonly cryptoAddress: string
  /** An amount with digits and decimal places that no other amount has. */
  readonly deposit: string
  readonly amount: string
  readonly income: string
  readonly birthDate: string
}

export type Makers = ReturnType<typeof makersFor>

/** Functions that create objects of a merchant and its customers through the operations, all with the same words. */
export function makersFor(app: App, merchantId: string, words: Words) {
  const context = (key: string | null = null): Context => createContext(app.service, merchantId, key)
  const details = {
    email: `${words.text('mail').replace(' ', '.')}@example.com`.toLowerCase(),
    phone: `+234${words.digits}`,
    addressLine1: words.text('street'),
    addressLine2: words.text('flat'),
    city: words.text('city'),
    state: words.text('state'),
    postalCode: words.digits.slice(0, 6),
    country: words.text('country'),
    firstName: words.text('first name'),
    middleName: words.text('middle name'),
    lastName: words.text('last name'),
    birthDate: words.birthDate,
    accountPurpose: words.text('purpose'),
    employmentStatus: words.text('employment'),
    expectedMonthlyIncome: words.income,
    mostRecentOccupation: words.text('occupation'),
    sourceOfFunds: words.text('source'),
  }
  const business = {
    businessName: words.text('company'),
    businessType: words.text('legal form'),
    businessWebsite: words.website,
  }
  const newCustomer = async (isBusiness = false) => {
    const customerType = isBusiness ? ('business' as const) : ('individual' as const)
    const { id } = await perform(createCustomer, context(), {
      ...details,
      ...(isBusiness && business),
      customerType,
      complianceDetails: JSON.stringify({ nature_of_business: words.text('compliance') }),
    })
    return id
  }
  const newBankMethod = async (customerId: string | null, currency = 'NGN') => {
    const { id } = await perform(createBankPayoutMethod, context(), {
      type: 'BANK',
      customerId,
      currency,
      accountName: words.text('account name'),
      accountNumber: words.digits,
      bankName: words.text('bank'),
      bankCode: words.digits.slice(-3),
      sortCode: words.digits.slice(0, 6),
      swiftCode: words.bic,
      routingNumber: words.digits.slice(0, 9),
      iban: words.iban,
    })
    return id
  }
  const newCryptoMethod = async (customerId: string | null) => {
    const { id } = await perform(createWalletPayoutMethod, context(), {
      type: 'WALLET',
      customerId,
      currency: 'USDC',
      walletAddress: words.cryptoAddress,
      network: 'erc20',
      label: words.text('label'),
    })
    return id
  }
  const deleted = async (payoutMethodId: string, customerId: string | null) => {
    await perform(deletePayoutMethod, context(), { payoutMethodId, customerId })
    return payoutMethodId
  }
  const newWallet = async (customerId: string | null, currency = 'USDC') => {
    const network = currency.startsWith('USD') ? 'solana' : null
    const description = words.text(`wallet in ${currency}`)
    const { id, addresses } = await perform(createWallet, context(), { currency, description, customerId, network })
    await depositToWallet(context(), { walletId: id, amount: words.deposit, reference: words.text(`deposit ${id}`) })
    for (const { id: ref } of addresses) await detectDeposit(context(), ref, words)
    return id
  }
  const newPayout = async (
    customerId: string | null,
    payoutMethodId: string | null = null,
    accountNumber = words.digits,
  ) => {
    const recipient = payoutMethodId
      ? { payoutMethodId }
      : {
          accountNumber,
          bankName: words.text('bank'),
          bankCode: words.digits.slice(-3),
          recipientName: words.text('recipient'),
          recipientCurrency: 'NGN' as const,
          recipientCountry: 'Nigeria' as const,
        }
    const { id } = await perform(createPayout, context(app.service.newId()), {
      customerId,
      assetCode: 'USDC',
      amount: words.amount,
      narration: words.text('narration'),
      ...recipient,
    })
    return id
  }
  const settle = async (payoutId: string, ...statuses: readonly ('COMPLETED' | 'FAILED' | 'RETURNED')[]) => {
    for (const status of statuses)
      await perform(simulatePayout, context(), { payoutId, status, cause: words.text('cause') })
    return payoutId
  }

  /** A payout for the sandbox's bank, which does not run in these tests. */
  const newCarriedPayout = (customerId: string | null = null) => newPayout(customerId, null, '9999999900')
  const newContradictedPayout = async (customerId: string | null = null) => {
    const payoutId = await newCarriedPayout(customerId)
    await makeDueCall(context(), payoutId, { state: 'COMPLETED', reference: words.text('reference') })
    await recordReport(context(), payoutId, { state: 'REJECTED', code: words.text('code') })
    return payoutId
  }
  const newWebhook = async () => {
    const { id } = await perform(createWebhookEndpoint, context(), {
      url: `${words.website}/webhooks`,
      description: words.text('webhook'),
      types: ['customer.created'],
      asymmetric: true,
    })
    return id
  }

  return {
    context,
    newCustomer,
    newBankMethod,
    newCryptoMethod,
    deleted,
    newWallet,
    newPayout,
    settle,
    newCarriedPayout,
    newContradictedPayout,
    newWebhook,
  }
}

/** Reports a pending deposit to an address on Solana, in a transaction of its own. */
async function detectDeposit(context: Context, ref: string, { amount }: Words): Promise<void> {
  const txHash = base58.encode(createHash('sha512').update(ref).digest())
  const transfer = { ref, network: 'solana', txHash, logIndex: 0, asset: 'USDC', amount } as const
  await reportDeposit(context, { ...transfer, rail: 'node', confirmations: 7, state: 'DETECTED' })
}
