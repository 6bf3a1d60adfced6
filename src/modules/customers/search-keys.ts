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

/** A folded text by which a search finds a customer. */
export type SearchKey = Pick<RowOf<'customerSearchKeys'>, 'kind' | 'key'>

/** Returns a text in the form in which search keys are stored and compared, without regard to case. */
function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

type CustomerTexts = Pick<Customer, 'email' | 'phone' | 'firstName' | 'lastName' | 'businessName'>

/** Returns each search key of a customer once. The full name serves a prefix of the first name too. */
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
 * Returns whether the stored search keys are those of the customer. Earlier names may be folded in ASCII only, so the
 * stored keys are folded again.
 */
export function hasSearchKeys(customer: CustomerTexts, stored: readonly SearchKey[]): boolean {
  const nameOf = ({ kind, key }: SearchKey) => `${kind} ${foldText(key)}`
  const expected = new Set(searchKeysOf(customer).map(nameOf))
  const actual = new Set(stored.map(nameOf))
  return expected.size === actual.size && [...expected].every((key) => actual.has(key))
}

/** Inserts a customer with its search keys. */
export async function insertCustomer(tx: Tx, customer: Customer): Promise<void> {
  await insertCustomerRow(tx, customer)
  const { merchantId, id: customerId } = customer
  for (const key of searchKeysOf(customer)) await insertSearchKey(tx, { merchantId, customerId, ...key })
}

/** Replaces the search keys that a change of the customer has changed. */
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
  // Keys from before this code folded them may be stored in the earlier form.
  const stored = [...old, ...searchKeysOf(before, lowerAscii).filter((key) => !isOld(key))]
  const removed = stored.filter(({ kind, key }) => !isCurrent({ kind, key: foldText(key) }))
  for (const key of removed) await deleteSearchKey(tx, { merchantId, customerId, ...key })
  for (const key of current) if (!isOld(key)) await insertSearchKey(tx, { merchantId, customerId, ...key })
}

type KeySearch = { readonly merchantId: string; readonly term: string; readonly limit: number }

/** Finds customers by their e-mail address or phone number; returns at most `limit` of each. */
export async function findCustomerIds(db: Reader, { term, ...params }: KeySearch): Promise<readonly string[]> {
  // People write phone numbers in groups.
  const phone = term.replace(/[\s().-]/g, '')
  const rows = await Promise.all([
    customerIdsByKey(db, { ...params, kind: 'email', key: foldText(term) }),
    customerIdsByKey(db, { ...params, kind: 'phone', key: phone }),
  ])
  return rows.flat().map(({ id }) => id)
}

/** A customer has at most three names. */
const maxNamesPerCustomer = 3

/** Finds up to `limit` customers by the beginning of a name, in the order of the names. */
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
 * Returns the forms in which a name may be stored. Names of customers from before search keys existed are folded in
 * ASCII only, so a term with other letters is also tried as such names are usually written.
 */
function nameForms(term: string): readonly string[] {
  const capitalized = term.toLowerCase().replace(/(^|[\s'-])(\p{L})/gu, (match) => match.toUpperCase())
  return [...new Set([foldText(term), ...[term, capitalized, term.toUpperCase()].map(lowerAscii)])]
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
