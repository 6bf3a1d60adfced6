import type { Reader, Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Customer } from './customer.ts'
import {
  customerIdsByKey,
  customerIdsByName,
  deleteSearchKey,
  insertCustomerRow,
  insertSearchKey,
} from './repository.ts'

export type SearchKey = Pick<RowOf<'customerSearchKeys'>, 'kind' | 'key'>

function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

type CustomerTexts = Pick<Customer, 'email' | 'phone' | 'firstName' | 'lastName' | 'businessName'>

/** The full name begins with the first name, so no separate search key for the first name is needed. */
function searchKeysOf(customer: CustomerTexts, fold = foldText): SearchKey[] {
  const { email, phone, firstName, lastName, businessName } = customer
  const names = [[firstName, lastName].filter(Boolean).join(' '), lastName, businessName]
  const distinctNames = new Set(names.flatMap((name) => (name ? [fold(name)] : [])))
  return [
    { kind: 'email', key: fold(email) },
    { kind: 'phone', key: phone },
    ...[...distinctNames].map((key) => ({ kind: 'name' as const, key })),
  ]
}

/**
 * Earlier versions converted only ASCII letters of search keys to lower case, so stored search keys are normalized
 * before the comparison.
 */
export function hasSearchKeys(customer: CustomerTexts, stored: readonly SearchKey[]): boolean {
  const nameOf = ({ kind, key }: SearchKey) => `${kind} ${foldText(key)}`
  const expected = new Set(searchKeysOf(customer).map(nameOf))
  const actual = new Set(stored.map(nameOf))
  return expected.size === actual.size && [...expected].every((key) => actual.has(key))
}

export async function insertCustomer(tx: Tx, customer: Customer): Promise<void> {
  await insertCustomerRow(tx, customer)
  const { merchantId, id: customerId } = customer
  for (const key of searchKeysOf(customer)) await insertSearchKey(tx, { merchantId, customerId, ...key })
}

export async function updateSearchKeys(
  tx: Tx,
  { before, after }: { before: Customer; after: Customer },
): Promise<void> {
  const { merchantId, id: customerId } = after
  const [old, current] = [searchKeysOf(before), searchKeysOf(after)]
  const isAmong = (keys: readonly SearchKey[]) => (one: SearchKey) =>
    keys.some(({ kind, key }) => kind === one.kind && key === one.key)
  const isOld = isAmong(old)
  const isCurrent = isAmong(current)
  // The database may contain search keys that an earlier version wrote (see `hasSearchKeys`).
  const stored = [...old, ...searchKeysOf(before, lowerAscii).filter((key) => !isOld(key))]
  const removed = stored.filter(({ kind, key }) => !isCurrent({ kind, key: foldText(key) }))
  for (const key of removed) await deleteSearchKey(tx, { merchantId, customerId, ...key })
  for (const key of current) if (!isOld(key)) await insertSearchKey(tx, { merchantId, customerId, ...key })
}

type KeySearch = { readonly merchantId: string; readonly term: string; readonly limit: number }

export async function findCustomerIds(db: Reader, { term, ...params }: KeySearch): Promise<readonly string[]> {
  const phone = term.replace(/[\s().-]/g, '')
  const rows = await Promise.all([
    customerIdsByKey(db, { ...params, kind: 'email', key: foldText(term) }),
    customerIdsByKey(db, { ...params, kind: 'phone', key: phone }),
  ])
  return rows.flat().map(({ id }) => id)
}

const maxNamesPerCustomer = 3

export async function findCustomerIdsByName(
  db: Reader,
  { merchantId, term, limit }: KeySearch,
): Promise<readonly string[]> {
  const params = { merchantId, limit: limit * maxNamesPerCustomer }
  const rows = await Promise.all(
    nameForms(term).map((from) => customerIdsByName(db, { ...params, from, to: `${from}\u{10ffff}` })),
  )
  return [...new Set(rows.flat().map(({ id }) => id))].slice(0, limit)
}

/**
 * To find search keys of earlier versions (see `hasSearchKeys`), a search also tries the term with its non-ASCII
 * letters unchanged, capitalized and in upper case.
 */
function nameForms(term: string): readonly string[] {
  const capitalized = term.toLowerCase().replace(/(^|[\s'-])(\p{L})/gu, (match) => match.toUpperCase())
  return [...new Set([foldText(term), ...[term, capitalized, term.toUpperCase()].map(lowerAscii)])]
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
