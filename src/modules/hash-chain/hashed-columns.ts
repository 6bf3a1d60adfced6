import { hash } from 'node:crypto'
import type { RowOf, TableName } from '../../database/tables.ts'

/** The form in which rows are hashed; each seal says its own, and one that was made is always read in that. */
export const currentFormat = 1

/**
 * What is hashed of each table that an event leads to, in this order: every column that stays as it was written.
 *
 * Left out are `merchantId`, which the seal has, the number of an event, which is its place in the seal, and what
 * `leftOut` says. A test holds that every column of these tables is in one of the two: one that is added later needs a form of
 * its own, because seals of before have it not.
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

/** Why a column of these tables is not hashed. */
export const unhashedColumns = {
  events: {},
  payouts: {
    status: 'it changes, and each change has its event',
    receiverWalletId: 'it may be filled in later',
    cryptoTransactionId: 'it may be filled in later',
    network: 'it may be filled in later',
    address: 'it may be filled in later',
    fiatReferenceId: 'it may be filled in later',
    updatedAt: 'it changes with the status',
    checksum: 'it follows from the others, and payouts of before have none',
    feeDeductedFrom: 'it follows from the amounts of the payout and of its transfer, and the audit compares them',
  },
  payoutEvents: {},
  deposits: {},
  depositReversals: {},
  wallets: {
    ownerId: 'it follows from the customer',
    description: 'it moves no money, and may become what its owner can change',
    status: 'it may become what changes',
    updatedAt: 'it changes with those',
  },
  transfers: {},
} as const satisfies { readonly [Table in HashedTable]: { readonly [Column in keyof RowOf<Table>]?: string } }

export type HashedTable = keyof typeof hashedColumns

/** What an event leads to beside its own row: what it made, and the transfer of what moved by it. */
export const rowSlots = ['events', 'made', 'transfers'] as const
export type RowSlot = (typeof rowSlots)[number]

/** A column that is read, under a name that tells its table. */
export type HistoryColumn = { readonly table: HashedTable; readonly column: string; readonly name: string }

/** Those that are read. */
export const historyColumns: readonly HistoryColumn[] = Object.entries(hashedColumns).flatMap(([table, columns]) =>
  columns.map((column) => ({ table: table as HashedTable, column, name: columnAlias(table, column) })),
)

/** An event with what it leads to, by `historyColumns`; where there is no such row each of its columns is `null`. */
export type HistoryRow = Readonly<Record<string, unknown>> & { readonly sequence: number }

function columnAlias(table: string, column: string): string {
  return table + column.charAt(0).toUpperCase() + column.slice(1)
}

const columnsByTable = Object.groupBy(historyColumns, ({ table }) => table)

/** The table of what an event of this type makes; `null` where its own row, or what it keeps, is all. */
function createdTable(type: unknown): HashedTable | null {
  if (type === 'payout.initiated') return 'payouts'
  if (type === 'payout.completed' || type === 'payout.failed' || type === 'payout.returned') return 'payoutEvents'
  if (type === 'wallet.transaction.inbound') return 'deposits'
  if (type === 'deposit.reversed') return 'depositReversals'
  return type === 'wallet.created' ? 'wallets' : null
}

/** The table of the row that may be in a slot of an event; `null` where it makes none. */
export function tableInSlot(slot: RowSlot, type: unknown): HashedTable | null {
  if (slot === 'made') return createdTable(type)
  return slot
}

/** What identifies the row in a slot, where it is there: an id, or the reference of a deposit. */
export function rowKey(table: HashedTable, row: HistoryRow): string {
  const key = {
    payoutEvents: 'payoutId',
    deposits: 'reference',
    depositReversals: 'reference',
    events: 'objectId',
  } as const
  return String(row[columnAlias(table, (key as Partial<Record<HashedTable, string>>)[table] ?? 'id')])
}

/** What stands for a row that is not there, of the length of a digest. */
export const absentDigest = '-'.repeat(44)

/** The SHA-256 of the row in each slot, in base64; `noDigest` where none is to be, or is there. */
export function computeDigests(row: HistoryRow | null): readonly [string, string, string] {
  if (row === null) return [absentDigest, absentDigest, absentDigest]
  const made = createdTable(row.eventsType)
  return [
    computeDigest('events', row),
    made === null ? absentDigest : computeDigest(made, row),
    computeDigest('transfers', row),
  ]
}

/** Every value with its length before it, so that no two rows are written alike. */
function computeDigest(table: HashedTable, row: HistoryRow): string {
  let written: string = table
  let isThere = false
  for (const { name } of columnsByTable[table] ?? []) {
    const value = row[name]
    if (value === null) {
      written += ';-'
      continue
    }
    isThere = true
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    written += `;${text.length}:${text}`
  }
  return isThere ? hash('sha256', written, 'base64') : absentDigest
}
