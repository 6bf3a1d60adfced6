import type { OperationNode } from 'kysely'
import { sql } from 'kysely'
import type { Params } from './query.ts'
import { from, placeholders } from './query.ts'
import type { TableName } from './tables.ts'

/** What queries for one customer bind in addition to their own parameters; PostgreSQL checks rows against it as well. */
type Bound = { readonly merchantId: string; readonly theCustomer: string }

const p = placeholders<Params<Bound>>()

/** A query for the rows of a table that are a customer's. */
type Part = { readonly toOperationNode: () => OperationNode }

/** Rows that name their customer: `given` is the column that an insert sets, from which the database may compute `owner`. */
type Owned = { readonly owner: string; readonly given: string }

/** Rows that name by a column the customer's row that they belong to. */
type Belonging = { readonly to: 'wallets' | 'payouts'; readonly by: string }

const verbs = ['select', 'insert', 'update', 'delete'] as const
/** What a statement does with rows. */
export type Verb = (typeof verbs)[number]

/** What a transaction for a customer may do with all of the merchant's rows, and why it has to. */
type Books = { readonly verbs: readonly Verb[]; readonly because: string }

/** What of a table exists for a client token that acts as one customer. */
export type CustomerTable = {
  /** The customer's own rows, in reads and in transactions; `none` where it has none. */
  readonly rows: Owned | Belonging | { readonly part: Part } | 'none'
  readonly books?: Books
}

/** The nouns whose rows name their customer. */
const nouns = {
  customers: { owner: 'id', given: 'id' },
  wallets: { owner: 'ownerId', given: 'customerId' },
  payoutMethods: { owner: 'ownerId', given: 'customerId' },
  payouts: { owner: 'customerId', given: 'customerId' },
} satisfies Partial<Record<TableName, Owned>>

const customersDeposit = from('transfers')
  .innerJoin('wallets', (join) =>
    join.onRef('wallets.merchantId', '=', 'transfers.merchantId').onRef('wallets.id', '=', 'transfers.walletId'),
  )
  .select('transfers.id')
  .where('transfers.merchantId', '=', p.merchantId)
  .where('wallets.ownerId', '=', p.theCustomer)

const customersEvents = from('events')
  .selectAll('events')
  .where(({ eb, exists, or }) =>
    or([
      eb('events.objectId', '=', p.theCustomer),
      exists(ownRow('payouts', 'events', 'objectId')),
      exists(ownRow('wallets', 'events', 'objectId')),
      exists(customersDeposit.whereRef('transfers.id', '=', 'events.objectId' as never)),
      // A payout method may be deleted since; its events keep what it was.
      sql<boolean>`events.data ->> 'customerId' = cast(${p.theCustomer} as text)`,
    ]),
  )

const customersCounts = from('listCounts')
  .selectAll('listCounts')
  .where('listCounts.list', 'like', sql<string>`'%/owner:' || cast(${p.theCustomer} as text) || '%'`)

/**
 * Declares for each table of a merchant what of it exists for a client token that acts as one customer. A table that is not
 * here has no rows for such a token and takes none. Queries (`one-customer.ts`) and row-level security (`row-security.ts`)
 * both follow from this.
 */
export const customerTables: Readonly<Partial<Record<TableName, CustomerTable>>> = {
  customers: { rows: nouns.customers },
  wallets: { rows: nouns.wallets },
  payoutMethods: { rows: nouns.payoutMethods },
  payouts: { rows: nouns.payouts },
  walletAddresses: {
    rows: { to: 'wallets', by: 'walletId' },
    books: { verbs: ['insert'], because: 'a new wallet gets its address in the transaction that opens it' },
  },
  accounts: {
    rows: { to: 'wallets', by: 'id' },
    books: { verbs: ['insert'], because: 'a wallet refers to its account, which is therefore opened before it' },
  },
  transfers: {
    rows: { to: 'wallets', by: 'walletId' },
    books: { verbs: ['insert'], because: 'a transfer follows the change of an account, and some are of no wallet' },
  },
  deposits: {
    rows: { to: 'wallets', by: 'walletId' },
    books: { verbs: ['select', 'insert'], because: 'a reference pays once, in whichever wallet of the merchant' },
  },
  depositReversals: { rows: { to: 'wallets', by: 'walletId' } },
  chainDeposits: { rows: { to: 'wallets', by: 'walletId' } },
  payoutEvents: {
    rows: { to: 'payouts', by: 'payoutId' },
    books: { verbs: ['insert'], because: 'the outcome of a payout is recorded after its status has changed' },
  },
  payoutTransfers: {
    rows: { to: 'payouts', by: 'payoutId' },
    books: { verbs: ['insert'], because: 'a new payout is queued in the transaction that records it' },
  },
  events: {
    rows: { part: customersEvents },
    books: {
      verbs: ['select', 'insert'],
      because: 'the events of all operations of a transaction are counted and written together before COMMIT',
    },
  },
  sequences: {
    // Event numbers are the merchant's: a customer's stream starts where the merchant's is.
    rows: { part: from('sequences').selectAll('sequences').where('sequences.name', '=', sql.lit('events')) },
    books: {
      verbs: ['select', 'insert', 'update'],
      because: 'the rows of all customers are numbered in the lists of the merchant',
    },
  },
  listCounts: {
    rows: { part: customersCounts },
    books: { verbs: ['insert', 'update'], because: 'a row is counted in lists of the merchant too' },
  },
  idempotencyKeys: {
    rows: 'none',
    books: { verbs, because: 'a key is unique for the merchant, and its fingerprint contains the customer' },
  },
  pooledAddresses: {
    rows: 'none',
    books: { verbs: ['select'], because: "a new wallet takes the next address of the merchant's pool" },
  },
  givenAddresses: {
    rows: 'none',
    books: { verbs: ['insert'], because: 'no other merchant is given the address of a new wallet' },
  },
  watchedAddresses: {
    rows: 'none',
    books: { verbs: ['insert'], because: 'the address of a new wallet is watched from then on' },
  },
}

/** The query for the rows of a table that are a customer's. */
export function partOf(table: TableName, { rows }: CustomerTable): Part {
  // Kysely has types for one table.
  const all = from(table as 'wallets').selectAll(table as 'wallets')
  if (rows === 'none') return all.where(sql<boolean>`1 = 0`)
  if ('part' in rows) return rows.part
  if ('owner' in rows) return all.where(`${table}.${rows.owner}` as 'wallets.ownerId', '=', p.theCustomer)
  return all.where(({ exists }) => exists(ownRow(rows.to, table, rows.by)))
}

/** The customer's wallet or payout that another row names; of that row's merchant, so that nothing is bound for it. */
function ownRow(noun: Belonging['to'], table: TableName, by: string) {
  const one = noun as 'wallets'
  return from(one)
    .select(`${one}.id`)
    .where(`${noun}.${nouns[noun].owner}` as 'wallets.ownerId', '=', p.theCustomer)
    .whereRef(`${one}.merchantId`, '=', `${table}.merchantId` as never)
    .whereRef(`${one}.id`, '=', `${table}.${by}` as never)
}
