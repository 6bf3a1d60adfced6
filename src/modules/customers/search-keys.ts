import type { Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Customer } from './customer.ts'
import { deleteSearchKey, insertCustomerRow, insertSearchKey } from './repository.ts'

/** A folded text by which a search finds a customer. */
type SearchKey = Pick<RowOf<'customerSearchKeys'>, 'kind' | 'key'>

/** Returns a text in the form in which search keys are stored and compared, without regard to case. */
export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Returns each search key of a customer once. The full name serves a prefix of the first name too. */
function searchKeysOf(customer: Customer): SearchKey[] {
  const { email, phone, firstName, lastName, businessName } = customer
  const names = [[firstName, lastName].filter(Boolean).join(' '), lastName, businessName]
  const distinctNames = new Set(names.flatMap((name) => (name ? [foldText(name)] : [])))
  return [
    { kind: 'email', key: foldText(email) },
    { kind: 'phone', key: phone },
    ...[...distinctNames].map((key) => ({ kind: 'name' as const, key })),
  ]
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
  for (const key of old) if (!isCurrent(key)) await deleteSearchKey(tx, { merchantId, customerId, ...key })
  for (const key of current) if (!isOld(key)) await insertSearchKey(tx, { merchantId, customerId, ...key })
}
