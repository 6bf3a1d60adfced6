import { openDatabase } from '../../src/app/open-database.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { setFee } from '../../src/modules/pricing/fees.ts'
import { setRate } from '../../src/modules/pricing/rates.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { sampleCustomer } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'
import type { Request } from './clients.ts'
import { payoutBody } from './clients.ts'

/** A USDC wallet that is its owner's only one, so that the customer's payouts debit it. */
export type OwnWallet = { readonly walletId: string; readonly customerId: string }

/** A new merchant with its key and customers with one wallet each. */
export type Wallets = { readonly apiKey: string; readonly merchantId: string; readonly wallets: readonly OwnWallet[] }

/** The initial state of wallets; `fee` is in per cent of a payout, and absent means none. */
export type WalletsOptions = { readonly count: number; readonly balance: string; readonly fee?: string }

/** Adds a merchant with wallets to the database at `url`, on either engine, and closes it. */
export async function makeWallets(url: string, { count, balance, fee }: WalletsOptions): Promise<Wallets> {
  const db = await openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
  const service = createService({ db, mode: 'sandbox' })
  const { id: merchantId, apiKey } = await createMerchant(service, { name: 'Proof' })
  // Prices took effect long ago, so that one applies whatever a stepping clock returns.
  const longAgo = createService({ db, mode: 'sandbox', clock: () => Date.now() - 24 * 60 * 60 * 1000 })
  await setRate(longAgo, { fromCode: 'USDC', toCode: 'NGN', rate: '1500' })
  if (fee) await setFee(longAgo, { assetCode: 'USDC', recipientCurrency: 'NGN', flat: '0.01', percent: fee })
  const context = createContext(service, merchantId)
  const wallets: OwnWallet[] = []
  for (let i = 0; i < count; i++) {
    const { id: customerId } = await perform(createCustomer, context, sampleCustomer)
    const walletInput = { currency: 'USDC', description: 'Proof', network: 'erc20', customerId } as const
    const { id: walletId } = await perform(createWallet, context, walletInput)
    await depositToWallet(context, { walletId, amount: balance, reference: `opening ${i}` })
    wallets.push({ walletId, customerId })
  }
  await db.close()
  return { apiKey, merchantId, wallets }
}

/** A payout by the REST API. */
export function payoutFrom({ customerId }: OwnWallet, amount: string, key: string | null = null): Request {
  return {
    path: '/api/payouts/banks',
    ...(key !== null && { headers: { 'idempotency-key': key } }),
    body: { ...payoutBody, customer_id: customerId, amount },
  }
}

/** A deposit by the GraphQL API, which responds with `data.simulateDeposit.wallet.balance`. */
export function depositTo({ walletId }: OwnWallet, amount: string, idempotencyKey: string | null = null): Request {
  return mutation('simulateDeposit', 'SimulateDeposit', 'wallet { balance }', { walletId, amount, idempotencyKey })
}

/** The bank's decision about a payout, by the GraphQL API. */
export function settle(payoutId: string, status: 'COMPLETED' | 'FAILED' | 'RETURNED'): Request {
  return mutation('simulatePayout', 'SimulatePayout', 'payout { status }', { payoutId, status })
}

/** A wallet query by the REST API, which responds with `data.balance`. */
export function walletByRest({ walletId }: OwnWallet): Request {
  return { method: 'GET', path: `/api/wallets/${walletId}` }
}

/** A wallet query by the GraphQL API, which responds with `data.wallet.balance`. */
export function walletByGraphql({ walletId }: OwnWallet): Request {
  return graphql('query Look($id: ID!) { wallet(id: $id) { balance } }', { id: walletId })
}

/** Any GraphQL request. */
export function graphql(query: string, variables: object): Request {
  return { path: '/graphql', body: { query, variables } }
}

function mutation(name: string, typeName: string, payload: string, input: object): Request {
  return graphql(
    `mutation Do($input: ${typeName}Input!) { ${name}(input: $input) {
      ... on ${typeName}Payload { ${payload} } ... on UserError { code } } }`,
    { input },
  )
}
