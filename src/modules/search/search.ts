import { z } from 'zod'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { parseIdempotencyKey, parseInput, searchLimit, text } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import type { Customer } from '../customers/customer.ts'
import { customers } from '../customers/list.ts'
import { findCustomerIds, findCustomerIdsByName } from '../customers/search-keys.ts'
import type { Entry } from '../ledger/entry.ts'
import { walletEntriesOfTransfers } from '../ledger/repository.ts'
import { checksumEvmAddress } from '../networks/address-encoding.ts'
import { parseTransactionHash } from '../networks/input-formats.ts'
import { networks } from '../networks/network.ts'
import { payoutMethods } from '../payout-methods/list.ts'
import type { PayoutMethod } from '../payout-methods/payout-method.ts'
import { findPayoutByTransactionId, referenceIdRange } from '../payouts/get-payout.ts'
import { payouts } from '../payouts/list.ts'
import type { Payout } from '../payouts/payout.ts'
import { payoutByIdempotencyKey, payoutByReference } from '../payouts/repository.ts'
import { wallets } from '../wallets/list.ts'
import { depositByReference } from '../wallets/repository.ts'
import type { WalletRow } from '../wallets/wallet.ts'
import {
  depositsOfTransaction,
  payoutIdsByAccountNumber,
  payoutIdsByFiatReference,
  payoutMethodIdsByAccountNumber,
  payoutMethodIdsByAddress,
  payoutMethodIdsByIban,
  walletIdsByAddress,
} from './repository.ts'

const maxTermLength = 255

export const SearchInput = z.object({ term: text(maxTermLength), first: searchLimit() })

/** `isExact` is false if the search term matches only the beginning of a name. */
export type SearchHit = { readonly isExact: boolean } & (
  | { readonly type: 'payout'; readonly row: Payout }
  | { readonly type: 'customer'; readonly row: Customer }
  | { readonly type: 'wallet'; readonly row: WalletRow }
  | { readonly type: 'payoutMethod'; readonly row: PayoutMethod }
  | { readonly type: 'deposit'; readonly row: Entry }
)

export type SearchHits = { readonly hits: readonly SearchHit[]; readonly hasMore: boolean }

type Search = {
  readonly context: Context
  readonly term: string
  /** Returns the search term if it is a UUID, or the UUID in a global id of the type `type`. */
  readonly idOf: (type: SearchHit['type']) => string | null
  readonly params: { readonly merchantId: string; readonly limit: number }
}

type Ids = readonly (string | null | undefined)[]

/**
 * Finds objects by any of their identifiers, and customers by the beginning of a name. Exact matches come first. The
 * result contains only rows that the caller may read.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function search(context: Context, input: z.input<typeof SearchInput>): Promise<SearchHits> {
  const { term, first } = parseInput(SearchInput, input)
  const params = { merchantId: context.merchantId, limit: first + 1 }
  const search: Search = { context, term, idOf: idReader(term), params }
  const [foundPayouts, foundCustomers, transactions, foundMethods, namedCustomers] = await Promise.all([
    findPayoutIds(search),
    findCustomerIds(context.db, { term, ...params }),
    findTransactions(search),
    findPayoutMethodIds(search),
    findCustomerIdsByName(context.db, { term, ...params }),
  ])
  const exactCustomers = [search.idOf('customer'), ...foundCustomers]
  const customerIds = new Set(exactCustomers)
  const [payoutRows, customerRows, walletRows, methodRows, depositRows, namedRows] = await Promise.all([
    readRows(foundPayouts, (ids) => payouts.find(context, ids)),
    readRows(exactCustomers, (ids) => customers.find(context, ids)),
    readRows([...(await findWalletIds(search)), ...transactions.walletIds], (ids) => wallets.find(context, ids)),
    readRows(foundMethods, (ids) => payoutMethods.find(context, ids)),
    findDeposits(search, transactions.references),
    readRows(
      namedCustomers.filter((id) => !customerIds.has(id)),
      (ids) => customers.find(context, ids),
    ),
  ])
  const hits: readonly SearchHit[] = [
    ...payoutRows.map((row) => ({ type: 'payout' as const, row, isExact: true })),
    ...customerRows.map((row) => ({ type: 'customer' as const, row, isExact: true })),
    ...walletRows.map((row) => ({ type: 'wallet' as const, row, isExact: true })),
    ...methodRows.map((row) => ({ type: 'payoutMethod' as const, row, isExact: true })),
    ...depositRows.map((row) => ({ type: 'deposit' as const, row, isExact: true })),
    ...namedRows.map((row) => ({ type: 'customer' as const, row, isExact: false })),
  ]
  return { hits: hits.slice(0, first), hasMore: hits.length > first }
}

export const hitTypesByName = {
  Payout: 'payout',
  Customer: 'customer',
  Wallet: 'wallet',
  BankPayoutMethod: 'payoutMethod',
  WalletPayoutMethod: 'payoutMethod',
  LedgerEntry: 'deposit',
} as const satisfies Readonly<Record<string, SearchHit['type']>>

function idReader(term: string): Search['idOf'] {
  const uuid = parseUuid(term)
  if (uuid !== null) return () => uuid
  const decoded = /^[A-Za-z0-9+/]+={0,2}$/.test(term) ? Buffer.from(term, 'base64').toString('latin1') : ''
  // The global id of a ledger entry has the entry's line number after the UUID.
  const [, globalType = '', key = ''] = /^([A-Z]\w*):([^:]+)/.exec(decoded) ?? []
  const id = parseUuid(key)
  const [, hitType] = Object.entries(hitTypesByName).find(([name]) => name === globalType) ?? []
  return (type) => (hitType === type ? id : null)
}

async function findPayoutIds({ context: { db }, term, idOf, params }: Search): Promise<Ids> {
  const { merchantId } = params
  const uuid = parseUuid(term)
  const { key } = parseIdempotencyKey('term', term)
  const [byTransactionId, byReference, byKey, byAccountNumber, byFiatReference] = await Promise.all([
    findPayoutByTransactionId(db, { merchantId, transactionId: term }),
    uuid === null ? null : payoutByReference(db, { merchantId, ...referenceIdRange(uuid) }),
    // The payout with this idempotency key can belong to a customer that the caller may not see. The search uses only
    // the payout's id, and later reads the payout with the caller's restrictions.
    key === null ? null : payoutByIdempotencyKey(db, { merchantId, idempotencyKey: key }),
    payoutIdsByAccountNumber(db, { ...params, accountNumber: term }),
    payoutIdsByFiatReference(db, { ...params, fiatReferenceId: term }),
  ])
  const single = [byTransactionId, byReference, byKey].map((payout) => payout?.id)
  return [idOf('payout'), ...single, ...idsOf(byFiatReference), ...idsOf(byAccountNumber)]
}

/** EVM addresses are case-insensitive, so the database may have the address in any of the returned spellings. */
function addressForms(term: string): readonly string[] {
  const checksummed = checksumEvmAddress(term)
  if (checksummed === null) return [term]
  const digits = checksummed.slice(2)
  return [...new Set([term, checksummed, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`])]
}

async function findWalletIds({ context: { db }, term, idOf, params }: Search): Promise<Ids> {
  const rows = await Promise.all(addressForms(term).map((address) => walletIdsByAddress(db, { ...params, address })))
  return [idOf('wallet'), ...rows.flatMap(idsOf)]
}

async function findPayoutMethodIds({ context: { db }, term, idOf, params }: Search): Promise<Ids> {
  const rows = await Promise.all([
    payoutMethodIdsByAccountNumber(db, { ...params, accountNumber: term }),
    payoutMethodIdsByIban(db, { ...params, iban: term }),
    ...addressForms(term).map((walletAddress) => payoutMethodIdsByAddress(db, { ...params, walletAddress })),
  ])
  return [idOf('payoutMethod'), ...rows.flatMap(idsOf)]
}

/**
 * Searches blockchain transfers. A credited deposit is found by its reference, and an uncredited deposit by its wallet.
 */
async function findTransactions({ context: { db }, term, params }: Search) {
  const rows = await Promise.all(
    networks.map((network) => {
      const txHash = parseTransactionHash(network, term)
      return txHash === null ? [] : depositsOfTransaction(db, { ...params, network, txHash })
    }),
  )
  return {
    walletIds: rows.flat().flatMap(({ walletId, depositReference }) => (depositReference === null ? [walletId] : [])),
    references: rows.flat().flatMap(({ depositReference }) => depositReference ?? []),
  }
}

async function findDeposits(
  { context: { db }, term, idOf, params: { merchantId, limit } }: Search,
  otherReferences: readonly string[],
): Promise<readonly Entry[]> {
  const references = [...new Set([term, ...otherReferences])].slice(0, limit)
  const deposits = await Promise.all(references.map((reference) => depositByReference(db, { merchantId, reference })))
  const transferIds = [idOf('deposit'), ...deposits.map((deposit) => deposit?.transferId)].filter((id) => id != null)
  if (transferIds.length === 0) return []
  const entries = await walletEntriesOfTransfers(db, { merchantId, transferIds: [...new Set(transferIds)] })
  return entries.filter(({ kind }) => kind === 'deposit' || kind === 'deposit_reversal')
}

function idsOf(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map(({ id }) => id)
}

async function readRows<Row extends { readonly id: string }>(
  candidates: Ids,
  read: (ids: readonly string[]) => Promise<readonly Row[]> | readonly Row[],
): Promise<readonly Row[]> {
  const ids = [...new Set(candidates.filter((id) => id != null))]
  if (ids.length === 0) return []
  const rows = new Map((await read(ids)).map((row) => [row.id, row]))
  return ids.flatMap((id) => rows.get(id) ?? [])
}
