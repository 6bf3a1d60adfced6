import { dayOrInstant, endDayOrInstant, optional } from '../../core/input.ts'
import type { FilterValues } from '../../lists/filters.ts'
import { filterByEnum, filterByOwner, filterByText } from '../../lists/filters.ts'
import type { CreatedRange } from '../../lists/time-range.ts'
import type { Context } from '../../operations/context.ts'
import { findPayoutByTransactionId } from '../payouts/get-payout.ts'
import type { PayoutStatus } from '../payouts/payout.ts'
import { depositSequenceOfTransactionId } from '../payouts/transaction-id.ts'
import { transactionModes, transactionStatuses, transactionTypes } from './wallet-transaction.ts'

/** The original provider once called a new payout `PENDING`, so clients may filter by either name (ruling 131). */
const statusFilters = ['PENDING', ...transactionStatuses] as const

export const customerTransactionFilters = {
  search: filterByText(
    'Only transactions whose transaction id contains this text. A whole id is found anywhere, a part in the newest 10,000 transactions.',
  ),
  status: filterByEnum(statusFilters, 'Only transactions in this status. `PENDING` means `PROCESSING`.'),
  transactionType: filterByEnum(transactionTypes, 'Only transactions of this type.'),
  transactionMode: filterByEnum(transactionModes, 'Only money that came in, or only money that left.'),
  currency: filterByText(
    'Only transactions in this asset, such as `USDC`, in any case. An unknown one matches nothing.',
  ),
}

export const transactionFilters = {
  owner: filterByOwner('Only transactions of one customer.', {
    description: 'Only transactions of this customer, or with `null` only the merchant’s own. An unknown one has none.',
  }),
  transactionId: filterByText('Only the transaction with this transaction id.'),
  ...customerTransactionFilters,
}

/** A date filter is a time with an offset, or a day. The end day is included (ruling 134). */
export const transactionDateFields = {
  startDate: optional(dayOrInstant()),
  endDate: optional(endDayOrInstant()),
}

export type TransactionFilterValues = FilterValues<typeof transactionFilters> & {
  readonly startDate: string | null
  readonly endDate: string | null
}

type OwnerConditions = { readonly customerId?: string; readonly isMerchantOwned?: true }

/** The condition `isCancelled` applies only to failed payouts. */
export type PayoutConditions = {
  readonly status?: PayoutStatus
  readonly isCancelled?: boolean
  readonly assetCode?: string
  readonly sequence?: number
}

export type DepositConditions = {
  readonly isReversed?: boolean
  readonly assetCode?: string | undefined
  readonly sequence?: number | undefined
}

/** If no payout can match, `payouts` is `null`. If no deposit can match, `deposits` is `null`. */
export type TransactionConditions = {
  readonly owner: OwnerConditions
  readonly created: CreatedRange
  readonly idPart: string | null
  readonly payouts: PayoutConditions | null
  readonly deposits: DepositConditions | null
}

type StatusConditions = Pick<TransactionConditions, 'payouts' | 'deposits'>

const conditionsOfStatus: Record<(typeof statusFilters)[number], StatusConditions> = {
  PENDING: { payouts: { status: 'PROCESSING' }, deposits: null },
  PROCESSING: { payouts: { status: 'PROCESSING' }, deposits: null },
  COMPLETED: { payouts: { status: 'COMPLETED' }, deposits: { isReversed: false } },
  FAILED: { payouts: { status: 'FAILED', isCancelled: false }, deposits: null },
  CANCELLED: { payouts: { status: 'FAILED', isCancelled: true }, deposits: null },
  REVERSED: { payouts: { status: 'RETURNED' }, deposits: { isReversed: true } },
}

export async function resolveConditions(
  context: Context,
  filters: TransactionFilterValues,
): Promise<TransactionConditions> {
  const { owner, status, transactionType, transactionMode, currency, startDate, endDate } = filters
  const ofStatus = status === null ? anyStatus : conditionsOfStatus[status]
  const ofOwner = ownerConditions(context, owner)
  const hasPayouts = (transactionType ?? 'PAYOUT') === 'PAYOUT' && (transactionMode ?? 'DEBIT') === 'DEBIT'
  const hasDeposits = (transactionType ?? 'DEPOSIT') === 'DEPOSIT' && (transactionMode ?? 'CREDIT') === 'CREDIT'
  const asset = currency === null ? {} : { assetCode: currency.toUpperCase() }
  const one = await findById(context, filters)
  return {
    owner: ofOwner ?? {},
    created: { createdFrom: startDate, createdBefore: endDate },
    idPart: one === null ? (filters.search?.toUpperCase() ?? null) : null,
    payouts: ofOwner && hasPayouts ? combine(ofStatus.payouts, asset, one?.payouts) : null,
    deposits: ofOwner && hasDeposits ? combine(ofStatus.deposits, asset, one?.deposits) : null,
  }
}

const anyStatus: StatusConditions = { payouts: {}, deposits: {} }

type IdConditions = {
  readonly payouts: { sequence: number } | 'none'
  readonly deposits: { sequence: number } | 'none'
}

function combine<Conditions extends object>(
  conditions: Conditions | null,
  asset: { readonly assetCode?: string },
  one: { readonly sequence: number } | 'none' | undefined,
): (Conditions & typeof asset & { readonly sequence?: number }) | null {
  if (conditions === null || one === 'none') return null
  return { ...conditions, ...asset, ...one }
}

/** A client token for one customer can find no transaction of another owner. In that case, returns `null`. */
function ownerConditions(
  { db: { customerId } }: Context,
  owner: TransactionFilterValues['owner'],
): OwnerConditions | null {
  if (owner === 'any') return customerId === undefined ? {} : { customerId }
  if (owner === 'merchant') return customerId === undefined ? { isMerchantOwned: true } : null
  return customerId === undefined || owner.customerId === customerId ? owner : null
}

/** Returns `null` if neither `transactionId` nor `search` is a complete transaction id. */
async function findById(
  context: Context,
  { transactionId, search }: Pick<TransactionFilterValues, 'transactionId' | 'search'>,
): Promise<IdConditions | null> {
  if (transactionId === null) return search === null ? null : numberOf(context, search)
  const isSame = search === null || transactionId.toUpperCase().includes(search.toUpperCase())
  return (isSame ? await numberOf(context, transactionId) : null) ?? { payouts: 'none', deposits: 'none' }
}

async function numberOf({ db, merchantId }: Context, text: string): Promise<IdConditions | null> {
  const payout = await findPayoutByTransactionId(db, { merchantId, transactionId: text })
  if (payout) return { payouts: { sequence: payout.sequence }, deposits: 'none' }
  const sequence = depositSequenceOfTransactionId(merchantId, text.trim().toUpperCase())
  return sequence === null ? null : { payouts: 'none', deposits: { sequence } }
}
