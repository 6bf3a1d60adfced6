import type { OperationNode } from 'kysely'
import { sql } from 'kysely'
import type { Params } from './query.ts'
import { placeholders, selectFrom } from './query.ts'
import type { TableName } from './tables.ts'

/** What queries for one customer bind in addition to their own parameters; PostgreSQL checks rows against it as well. */
type CustomerScopeParams = { readonly merchantId: string; readonly theCustomer: string }

const p = placeholders<Params<CustomerScopeParams>>()

/** A query for the rows of a table that are a customer's. */
type CustomerRowsQuery = { readonly toOperationNode: () => OperationNode }

/** Rows that name their customer: `given` is the column that an insert sets, from which the database may compute `owner`. */
type OwnedRows = { readonly owner: string; readonly insertColumn: string }

/** Rows that name by a column the customer's row that they belong to. */
type ChildRows = { readonly to: 'wallets' | 'payouts'; readonly foreignKey: string }

const verbs = ['select', 'insert', 'update', 'delete'] as const
/** What a statement does with rows. */
export type StatementVerb = (typeof verbs)[number]

/** What a transaction for a customer may do with all of the merchant's rows, and why it has to. */
type MerchantWideAccess = { readonly verbs: readonly StatementVerb[]; readonly reason: string }

/** What of a table exists for a client token that acts as one customer. */
export type CustomerTable = {
  /** The customer's own rows, in reads and in transactions; `none` where it has none. */
  readonly rows: OwnedRows | ChildRows | { readonly part: CustomerRowsQuery } | 'none'
  readonly merchantWide?: MerchantWideAccess
}

/** The nouns whose rows name their customer. */
const ownedTablesByName = {
  customers: { owner: 'id', insertColumn: 'id' },
  wallets: { owner: 'ownerId', insertColumn: 'customerId' },
  payoutMethods: { owner: 'ownerId', insertColumn: 'customerId' },
  payouts: { owner: 'customerId', insertColumn: 'customerId' },
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
      // A payout method may be deleted since; its events keep what it was.
      sql<boolean>`events.data ->> 'customerId' = cast(${p.theCustomer} as text)`,
    ]),
  )

const customerListCounts = selectFrom('listCounts')
  .selectAll('listCounts')
  .where('listCounts.list', 'like', sql<string>`'%/owner:' || cast(${p.theCustomer} as text) || '%'`)

/**
 * Declares for each table of a merchant what of it exists for a client token that acts as one customer. A table that is not
 * here has no rows for such a token and takes none. Queries (`one-customer.ts`) and row-level security (`row-security.ts`)
 * both follow from this.
 */
export const customerTables: Readonly<Partial<Record<TableName, CustomerTable>>> = {
  customers: { rows: ownedTablesByName.customers },
  wallets: { rows: ownedTablesByName.wallets },
  payoutMethods: { rows: ownedTablesByName.payoutMethods },
  payouts: { rows: ownedTablesByName.payouts },
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
    // Event numbers are the merchant's: a customer's stream starts where the merchant's is.
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

/** The query for the rows of a table that are a customer's. */
export function selectCustomerRows(table: TableName, { rows }: CustomerTable): CustomerRowsQuery {
  // Kysely has types for one table.
  const all = selectFrom(table as 'wallets').selectAll(table as 'wallets')
  if (rows === 'none') return all.where(sql<boolean>`1 = 0`)
  if ('part' in rows) return rows.part
  if ('owner' in rows) return all.where(`${table}.${rows.owner}` as 'wallets.ownerId', '=', p.theCustomer)
  return all.where(({ exists }) => exists(selectOwnParent(rows.to, table, rows.foreignKey)))
}

/** The customer's wallet or payout that another row names; of that row's merchant, so that nothing is bound for it. */
function selectOwnParent(noun: ChildRows['to'], table: TableName, by: string) {
  const one = noun as 'wallets'
  return selectFrom(one)
    .select(`${one}.id`)
    .where(`${noun}.${ownedTablesByName[noun].owner}` as 'wallets.ownerId', '=', p.theCustomer)
    .whereRef(`${one}.merchantId`, '=', `${table}.merchantId` as never)
    .whereRef(`${one}.id`, '=', `${table}.${by}` as never)
}
