import { hash } from 'node:crypto'
import type { RowOf, TableName } from '../../database/tables.ts'

export const currentFormat = 1

/**
 * The immutable columns of each table whose rows belong to events, in the order in which the columns are hashed.
 *
 * `merchantId` is not hashed, because the seal contains `merchantId`. An event's number is not hashed, because the
 * order of the hashed events determines the number. A test checks that every other column is either here or in
 * `unhashedColumns`. A new column here needs a new hash format.
 */
export const hashedColumns = {
  events: ['type', 'objectId', 'version', 'time', 'data'],
  payouts: [
    ...(['id', 'sequence', 'walletId', 'customerId', 'transferId', 'transactionId', 'referenceId'] as const),
    ...(['idempotencyKey', 'fingerprint', 'assetCode', 'amount', 'fee', 'balanceAfter', 'exchangeRate'] as const),
    ...(['amountFiat', 'recipientName', 'recipientCurrency', 'recipientCountry', 'bankName', 'bankCode'] as const),
    ...(['accountNumber', 'paymentPurpose', 'narration', 'transferType', 'createdAt', 'payoutMethodId'] as const),
  ],
  payoutEvents: ['payoutId', 'status', 'cause', 'transferId', 'createdAt', 'sequence'],
  deposits: ['reference', 'walletId', 'transferId', 'amount', 'balanceAfter', 'createdAt'],
  depositReversals: ['reference', 'walletId', 'transferId', 'amount', 'balanceAfter', 'reason', 'createdAt'],
  wallets: ['id', 'customerId', 'sequence', 'ownerSequence', 'assetType', 'currency', 'createdAt'],
  transfers: [
    ...(['id', 'kind', 'assetCode', 'walletId', 'amount', 'fee', 'sequence', 'balanceAfter'] as const),
    ...(['payoutId', 'reference', 'createdAt'] as const),
  ],
} as const satisfies { readonly [Table in TableName]?: readonly (keyof RowOf<Table>)[] }

export const unhashedColumns = {
  events: {},
  payouts: {
    status: 'it changes, and each change has an event',
    receiverWalletId: 'it may be filled in later',
    cryptoTransactionId: 'it may be filled in later',
    network: 'it may be filled in later',
    address: 'it may be filled in later',
    fiatReferenceId: 'it may be filled in later',
    updatedAt: 'it changes with the status',
    checksum: 'it follows from the other columns, and existing payouts have none',
    feeDeductedFrom: 'it follows from the amounts of the payout and its transfer, which the audit compares',
  },
  payoutEvents: {},
  deposits: {
    sequence: 'it follows from the order of the deposits in the feed',
    transactionNumber: 'it follows from the order of payouts and deposits in the feed',
    customerId: 'it follows from the wallet',
    assetCode: 'it follows from the wallet',
  },
  depositReversals: {},
  wallets: {
    ownerId: 'it follows from the customer',
    description: 'it moves no money, and may become editable',
    status: 'operators change it',
    updatedAt: 'it changes with the status',
  },
  transfers: {},
} as const satisfies { readonly [Table in HashedTable]: { readonly [Column in keyof RowOf<Table>]?: string } }

export type HashedTable = keyof typeof hashedColumns

export const rowSlots = ['events', 'made', 'transfers'] as const
export type RowSlot = (typeof rowSlots)[number]

export type HistoryColumn = { readonly table: HashedTable; readonly column: string; readonly name: string }

export const historyColumns: readonly HistoryColumn[] = Object.entries(hashedColumns).flatMap(([table, columns]) =>
  columns.map((column) => ({ table: table as HashedTable, column, name: columnAlias(table, column) })),
)

/** An event, joined with the rows that belong to the event. The columns of a missing row are all `null`. */
export type HistoryRow = Readonly<Record<string, unknown>> & { readonly sequence: number }

function columnAlias(table: string, column: string): string {
  return table + column.charAt(0).toUpperCase() + column.slice(1)
}

const columnsByTable = Object.groupBy(historyColumns, ({ table }) => table)

function createdTable(type: unknown): HashedTable | null {
  if (type === 'payout.initiated') return 'payouts'
  if (type === 'payout.completed' || type === 'payout.failed' || type === 'payout.returned') return 'payoutEvents'
  if (type === 'wallet.transaction.inbound') return 'deposits'
  if (type === 'deposit.reversed') return 'depositReversals'
  return type === 'wallet.created' ? 'wallets' : null
}

export function tableInSlot(slot: RowSlot, type: unknown): HashedTable | null {
  if (slot === 'made') return createdTable(type)
  return slot
}

export function rowKey(table: HashedTable, row: HistoryRow): string {
  const key = {
    payoutEvents: 'payoutId',
    deposits: 'reference',
    depositReversals: 'reference',
    events: 'objectId',
  } as const
  return String(row[columnAlias(table, (key as Partial<Record<HashedTable, string>>)[table] ?? 'id')])
}

export const absentDigest = '-'.repeat(44)

export function computeDigests(row: HistoryRow | null): readonly [string, string, string] {
  if (row === null) return [absentDigest, absentDigest, absentDigest]
  const made = createdTable(row.eventsType)
  return [
    computeDigest('events', row),
    made === null ? absentDigest : computeDigest(made, row),
    computeDigest('transfers', row),
  ]
}

/** Encodes each value with its length, so that different values always have different encodings. */
function computeDigest(table: HashedTable, row: HistoryRow): string {
  let encoded: string = table
  let isPresent = false
  for (const { name } of columnsByTable[table] ?? []) {
    const value = row[name]
    if (value === null) {
      encoded += ';-'
      continue
    }
    isPresent = true
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    encoded += `;${text.length}:${text}`
  }
  return isPresent ? hash('sha256', encoded, 'base64') : absentDigest
}
