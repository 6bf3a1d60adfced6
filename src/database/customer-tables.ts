import type { OperationNode } from 'kysely'
import { sql } from 'kysely'
import type { Params } from './query.ts'
import { placeholders, selectFrom } from './query.ts'
import type { TableName } from './tables.ts'

type CustomerScopeParams = { readonly merchantId: string; readonly theCustomer: string }

const p = placeholders<Params<CustomerScopeParams>>()

type CustomerRowsQuery = { readonly toOperationNode: () => OperationNode }

/**
 * A row belongs to a customer if the column `owner` is the customer's id. Inserts set `insertColumn`. The database may
 * generate the column `owner` from `insertColumn`.
 */
type OwnedRows = { readonly owner: string; readonly insertColumn: string }

type ChildRows = { readonly to: 'wallets' | 'payouts'; readonly foreignKey: string }

const verbs = ['select', 'insert', 'update', 'delete'] as const
export type StatementVerb = (typeof verbs)[number]

type MerchantWideAccess = { readonly verbs: readonly StatementVerb[]; readonly reason: string }

export type CustomerTable = {
  readonly rows: OwnedRows | ChildRows | { readonly part: CustomerRowsQuery } | 'none'
  readonly merchantWide?: MerchantWideAccess
}

const ownedTablesByName = {
  customers: { owner: 'id', insertColumn: 'id' },
  wallets: { owner: 'ownerId', insertColumn: 'customerId' },
  payoutMethods: { owner: 'ownerId', insertColumn: 'customerId' },
  payouts: { owner: 'customerId', insertColumn: 'customerId' },
  customerComplianceDetails: { owner: 'customerId', insertColumn: 'customerId' },
} satisfies Partial<Record<TableName, OwnedRows>>

const customerTransferIds = selectFrom('transfers')
  .innerJoin('wallets', (join) =>
    join.onRef('wallets.merchantId', '=', 'transfers.merchantId').onRef('wallets.id', '=', 'transfers.walletId'),
  )
  .select('transfers.id')
  .where('transfers.merchantId', '=', p.merchantId)
  .where('wallets.ownerId', '=', p.theCustomer)

const customerEvents = selectFrom('events')
  .selectAll('events')
  .where(({ eb, exists, or }) =>
    or([
      eb('events.objectId', '=', p.theCustomer),
      exists(selectOwnParent('payouts', 'events', 'objectId')),
      exists(selectOwnParent('wallets', 'events', 'objectId')),
      exists(customerTransferIds.whereRef('transfers.id', '=', 'events.objectId' as never)),
      // The payout method of an event may be deleted, so the customer is read from the event's data.
      sql<boolean>`events.data ->> 'customerId' = cast(${p.theCustomer} as text)`,
    ]),
  )

const customerListCounts = selectFrom('listCounts')
  .selectAll('listCounts')
  .where('listCounts.list', 'like', sql<string>`'%/owner:' || cast(${p.theCustomer} as text) || '%'`)

/**
 * Declares the rows that a customer's token can read or change. A customer's token cannot access other tables. Query
 * rewriting (`customer-scope.ts`) and row-level security (`row-security.ts`) use this declaration.
 */
export const customerTables: Readonly<Partial<Record<TableName, CustomerTable>>> = {
  customers: { rows: ownedTablesByName.customers },
  wallets: { rows: ownedTablesByName.wallets },
  payoutMethods: { rows: ownedTablesByName.payoutMethods },
  payouts: { rows: ownedTablesByName.payouts },
  customerComplianceDetails: { rows: ownedTablesByName.customerComplianceDetails },
  customerSearchKeys: { rows: { owner: 'customerId', insertColumn: 'customerId' } },
  walletAddresses: {
    rows: { to: 'wallets', foreignKey: 'walletId' },
    merchantWide: { verbs: ['insert'], reason: 'a new wallet gets its address in the transaction that opens it' },
  },
  accounts: {
    rows: { to: 'wallets', foreignKey: 'id' },
    merchantWide: { verbs: ['insert'], reason: 'a wallet refers to its account, which is therefore opened before it' },
  },
  transfers: {
    rows: { to: 'wallets', foreignKey: 'walletId' },
    merchantWide: {
      verbs: ['insert'],
      reason: 'a transfer follows the change of an account, and some are of no wallet',
    },
  },
  deposits: {
    rows: { to: 'wallets', foreignKey: 'walletId' },
    merchantWide: { verbs: ['select', 'insert'], reason: 'a reference pays once, in whichever wallet of the merchant' },
  },
  depositReversals: { rows: { to: 'wallets', foreignKey: 'walletId' } },
  chainDeposits: { rows: { to: 'wallets', foreignKey: 'walletId' } },
  payoutEvents: {
    rows: { to: 'payouts', foreignKey: 'payoutId' },
    merchantWide: { verbs: ['insert'], reason: 'the outcome of a payout is recorded after its status has changed' },
  },
  payoutTransfers: {
    rows: { to: 'payouts', foreignKey: 'payoutId' },
    merchantWide: { verbs: ['insert'], reason: 'a new payout is queued in the transaction that records it' },
  },
  events: {
    rows: { part: customerEvents },
    merchantWide: {
      verbs: ['select', 'insert'],
      reason: 'the events of all operations of a transaction are counted and written together before COMMIT',
    },
  },
  sequences: {
    // Event numbers are per merchant, so a customer's stream starts at the merchant's latest number.
    rows: { part: selectFrom('sequences').selectAll('sequences').where('sequences.name', '=', sql.lit('events')) },
    merchantWide: {
      verbs: ['select', 'insert', 'update'],
      reason: 'the rows of all customers are numbered in the lists of the merchant',
    },
  },
  listCounts: {
    rows: { part: customerListCounts },
    merchantWide: { verbs: ['insert', 'update'], reason: 'a row is counted in lists of the merchant too' },
  },
  idempotencyKeys: {
    rows: 'none',
    merchantWide: { verbs, reason: 'a key is unique for the merchant, and its fingerprint contains the customer' },
  },
  pooledAddresses: {
    rows: 'none',
    merchantWide: { verbs: ['select'], reason: "a new wallet takes the next address of the merchant's pool" },
  },
  givenAddresses: {
    rows: 'none',
    merchantWide: { verbs: ['insert'], reason: 'no other merchant is given the address of a new wallet' },
  },
  watchedAddresses: {
    rows: 'none',
    merchantWide: { verbs: ['insert'], reason: 'the address of a new wallet is watched from then on' },
  },
}

export const operatorTables = ['operators', 'operatorActions'] as const satisfies readonly TableName[]

export function selectCustomerRows(table: TableName, { rows }: CustomerTable): CustomerRowsQuery {
  const all = selectFrom(table as 'wallets').selectAll(table as 'wallets')
  if (rows === 'none') return all.where(sql<boolean>`1 = 0`)
  if ('part' in rows) return rows.part
  if ('owner' in rows) return all.where(`${table}.${rows.owner}` as 'wallets.ownerId', '=', p.theCustomer)
  return all.where(({ exists }) => exists(selectOwnParent(rows.to, table, rows.foreignKey)))
}

/** A row and the row that it references must have the same merchant, so the query needs no parameter `merchantId`. */
function selectOwnParent(parent: ChildRows['to'], table: TableName, foreignKey: string) {
  const typed = parent as 'wallets'
  return selectFrom(typed)
    .select(`${typed}.id`)
    .where(`${parent}.${ownedTablesByName[parent].owner}` as 'wallets.ownerId', '=', p.theCustomer)
    .whereRef(`${typed}.merchantId`, '=', `${table}.merchantId` as never)
    .whereRef(`${typed}.id`, '=', `${table}.${foreignKey}` as never)
}
