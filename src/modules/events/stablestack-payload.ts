import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { Context } from '../../operations/context.ts'
import type { Customer } from '../customers/customer.ts'
import { customers } from '../customers/list.ts'
import type { Merchant } from '../merchants/merchant.ts'
import { getMerchant } from '../merchants/merchant.ts'
import type { Payout } from '../payouts/payout.ts'
import { depositTransactionId } from '../payouts/transaction-id.ts'
import { computeFeeSums } from '../pricing/fees.ts'
import { cancelledOrders } from '../transactions/repository.ts'
import type { TransactionStatus } from '../transactions/wallet-transaction.ts'
import { statusOfPayout } from '../transactions/wallet-transaction.ts'
import { wallets } from '../wallets/list.ts'
import { addressesOfWallets } from '../wallets/repository.ts'
import type { WalletAddress, WalletRow } from '../wallets/wallet.ts'
import type { DepositPayload, HydratedEvent } from './event-payload.ts'
import { depositsByTransfers } from './repository.ts'

/** A party is the merchant, a customer, or unknown. All fields of an unknown party are `null`. */
type Party = {
  readonly firstName: string | null
  readonly lastName: string | null
  readonly businessName: string | null
  readonly role: 'merchant' | 'customer' | null
}

type PartyAccount = {
  readonly address: string | null
  readonly network: string | null
  readonly currency: string | null
  readonly country: string | null
  readonly bankCode: string | null
  readonly bankName: string | null
  readonly accountNumber: string | null
}

/** The `data` of a webhook in the format `stablestack`: the transaction at the time of the event (ruling 138). */
export type StablestackTransaction = {
  readonly id: string
  readonly merchantId: string
  readonly transactionType: 'DEPOSIT' | 'PAYOUT'
  readonly transactionMode: 'CREDIT' | 'DEBIT'
  readonly amount: Amount
  readonly assetCode: string
  readonly network: string | null
  readonly status: TransactionStatus
  readonly balance: Amount
  readonly transactionId: string
  readonly cryptoTransactionId: string | null
  readonly referenceId: string
  readonly sender: Party
  readonly senderAccount: PartyAccount
  readonly receiver: Party
  readonly receiverAccount: PartyAccount
  readonly fee: Amount | null
  readonly exchangeRate: string | null
  readonly amountFiat: string | null
  readonly amountAfterFee: Amount
  readonly recipientName: string | null
  readonly recipientCurrency: string | null
  readonly bankName: string | null
  readonly bankAccount: string | null
  readonly customerId: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

type ReadContext = Pick<Context, 'db' | 'merchantId'>

/** The keys of the returned map are event sequences. Runs one query for each kind of row. */
export async function loadStablestackTransactions(
  context: Context,
  events: readonly HydratedEvent[],
): Promise<ReadonlyMap<number, StablestackTransaction>> {
  const { db, merchantId } = context
  const deposits = events.flatMap(({ object }) => (object.type === 'deposit' ? object.row : []))
  const payouts = events.flatMap(({ object }) => (object.type === 'payout' ? object.row : []))
  if (deposits.length + payouts.length === 0) return new Map()
  const failed = payouts.filter(({ status }) => status === 'FAILED').map(({ referenceId }) => referenceId)
  const [parties, details, cancelled] = await allOrFirstError([
    loadParties(context, [...deposits, ...payouts]),
    deposits.length === 0 ? [] : depositsByTransfers(db, { merchantId, ids: deposits.map(({ id }) => id) }),
    failed.length === 0 ? [] : cancelledOrders(db, { merchantId, orderIds: failed }),
  ])
  const detailsById = new Map(details.map((each) => [each.transferId, each]))
  const cancelledIds = new Set(cancelled.map(({ orderId }) => orderId))
  const transactions = events.flatMap(({ sequence, object }): [number, StablestackTransaction][] => {
    if (object.type === 'payout') {
      const { status, referenceId } = object.row
      // A payout is reported as cancelled only in the event of its failure, not in earlier events.
      const isCancelled = status === 'FAILED' && cancelledIds.has(referenceId)
      return [[sequence, payoutTransaction(object.row, isCancelled, parties)]]
    }
    const details = object.type === 'deposit' ? detailsById.get(object.row.id) : undefined
    if (object.type !== 'deposit' || details === undefined) return []
    return [[sequence, depositTransaction(object.row, { merchantId, details, parties })]]
  })
  return new Map(transactions)
}

type Parties = {
  readonly ownerOf: (customerId: string | null) => Party
  readonly accountOf: (walletId: string) => PartyAccount
}

async function loadParties(
  context: Context,
  rows: readonly { readonly walletId: string; readonly customerId: string | null }[],
): Promise<Parties> {
  const walletIds = [...new Set(rows.map(({ walletId }) => walletId))]
  const customerIds = [...new Set(rows.flatMap(({ customerId }) => customerId ?? []))]
  const [merchant, owners, found, addresses] = await allOrFirstError([
    getMerchant(context),
    customerIds.length === 0 ? [] : customers.find(context, customerIds),
    findWallets(context, walletIds),
    addressesOfWallets(context.db, { merchantId: context.merchantId, walletIds }),
  ])
  const byOwner = new Map(owners.map((customer) => [customer.id, customerParty(customer)]))
  const byWallet = new Map(found.map((wallet) => [wallet.id, wallet]))
  return {
    ownerOf: (customerId) => (customerId && byOwner.get(customerId)) || merchantParty(merchant),
    accountOf: (walletId) =>
      walletAccount(
        byWallet.get(walletId),
        addresses.find((address) => address.walletId === walletId),
      ),
  }
}

async function findWallets(context: ReadContext, ids: readonly string[]): Promise<readonly WalletRow[]> {
  return wallets.find(context, ids)
}

function customerParty({ firstName, lastName, businessName }: Customer): Party {
  return { firstName, lastName, businessName, role: 'customer' }
}

function merchantParty({ name }: Merchant): Party {
  return { ...stranger, businessName: name, role: 'merchant' }
}

const stranger: Party = { firstName: null, lastName: null, businessName: null, role: null }

const noAccount: PartyAccount = {
  ...{ address: null, network: null, currency: null, country: null },
  ...{ bankCode: null, bankName: null, accountNumber: null },
}

function walletAccount(wallet: WalletRow | undefined, first: WalletAddress | undefined): PartyAccount {
  return {
    ...noAccount,
    address: first?.address ?? null,
    network: first?.network ?? null,
    currency: wallet?.currency ?? null,
  }
}

function payoutTransaction(payout: Payout, isCancelled: boolean, parties: Parties): StablestackTransaction {
  const { bankCode, bankName, accountNumber, recipientCurrency, recipientCountry } = payout
  return {
    id: payout.id,
    merchantId: payout.merchantId,
    transactionType: 'PAYOUT',
    transactionMode: 'DEBIT',
    amount: payout.amount,
    assetCode: payout.assetCode,
    network: payout.network,
    status: isCancelled ? 'CANCELLED' : statusOfPayout[payout.status],
    balance: payout.balanceAfter,
    transactionId: payout.transactionId,
    cryptoTransactionId: payout.cryptoTransactionId,
    referenceId: payout.referenceId,
    sender: parties.ownerOf(payout.customerId),
    senderAccount: parties.accountOf(payout.walletId),
    receiver: stranger,
    receiverAccount: {
      ...noAccount,
      ...{ currency: recipientCurrency, country: recipientCountry, bankCode, bankName, accountNumber },
    },
    fee: payout.fee,
    exchangeRate: payout.exchangeRate,
    amountFiat: payout.amountFiat,
    amountAfterFee: computeFeeSums(payout).netAmount,
    recipientName: payout.recipientName,
    recipientCurrency,
    bankName,
    bankAccount: accountNumber,
    customerId: payout.customerId,
    createdAt: payout.createdAt,
    updatedAt: payout.updatedAt,
  }
}

type DepositDetails = {
  readonly sequence: number
  readonly txHash: string | null
  readonly network: string | null
  readonly address: string | null
}

/** Uses the wallet's first address for a deposit that no blockchain node reported. */
function depositTransaction(
  deposit: DepositPayload,
  { merchantId, details, parties }: { merchantId: string; details: DepositDetails; parties: Parties },
): StablestackTransaction {
  const wallet = parties.accountOf(deposit.walletId)
  const account = details.address === null ? wallet : { ...wallet, address: details.address, network: details.network }
  return {
    id: deposit.id,
    merchantId,
    transactionType: 'DEPOSIT',
    transactionMode: 'CREDIT',
    amount: deposit.amount,
    assetCode: deposit.currency,
    network: account.network,
    status: 'COMPLETED',
    balance: deposit.balanceAfter,
    transactionId: depositTransactionId(merchantId, details.sequence),
    cryptoTransactionId: details.txHash,
    referenceId: deposit.id,
    sender: stranger,
    senderAccount: noAccount,
    receiver: parties.ownerOf(deposit.customerId),
    receiverAccount: account,
    ...{ fee: null, exchangeRate: null, amountFiat: null, amountAfterFee: deposit.amount, recipientName: null },
    ...{ recipientCurrency: null, bankName: null, bankAccount: null, customerId: deposit.customerId },
    createdAt: deposit.createdAt,
    updatedAt: deposit.createdAt,
  }
}
