import { crc32 } from 'node:zlib'
import type { RowOf } from '../../database/tables.ts'
import { tables } from '../../database/tables.ts'
import { fingerprintOf } from '../../operations/idempotency/run-once.ts'
import type { Payout } from './payout.ts'
import { initialPayoutState } from './payout.ts'

const mutableColumns = [...Object.keys(initialPayoutState), 'updatedAt', 'checksum']

/** The checksum depends on the order of the columns, so a migration must add new columns at the end of the table. */
const immutableColumns = Object.keys(tables.payouts).filter(
  (name) => !mutableColumns.includes(name),
) as (keyof Payout)[]

const initialColumnCount = immutableColumns.indexOf('payoutMethodId') + 1

export function withChecksum<Row extends Payout>(payout: Row): Row & { checksum: number } {
  return Object.assign(payout, { checksum: checksumOf(payout) })
}

/** CRC-32 detects every change of a single bit, for example by a failing disk. CRC-32 does not detect tampering. */
function checksumOf(payout: Payout): number {
  return checksumOfValues(immutableColumns.map((name) => payout[name]))
}

/**
 * The checksum ignores trailing NULLs of columns that were added later, so that the checksums of older payouts stay
 * valid.
 */
export function checksumOfValues(values: readonly unknown[]): number {
  let count = values.length
  while (count > initialColumnCount && (values[count - 1] ?? null) === null) count--
  // The PostgreSQL column is a signed integer, so the checksum is signed.
  return crc32(values.slice(0, count).join('\u001f')) | 0
}

/**
 * Older payouts have no checksum, so their fields are compared with the fingerprint of the request. A payout that
 * cannot be checked counts as intact.
 */
export function isPayoutIntact(payout: RowOf<'payouts'>): boolean {
  if (payout.checksum !== null) return payout.checksum === checksumOf(payout)
  if (payout.fingerprint === null || payout.payoutMethodId !== null) return true
  return possibleRequests(payout).some((request) => fingerprintOf(request) === payout.fingerprint)
}

/** Returns all requests that can have created the payout. The client may have omitted `walletId` and `transferType`. */
function possibleRequests(payout: Payout): object[] {
  const { customerId, assetCode, accountNumber, bankName, bankCode, amount, narration, paymentPurpose } = payout
  const { recipientName, recipientCurrency, recipientCountry } = payout
  const request = {
    ...{ customerId, assetCode, accountNumber, bankName, bankCode, amount, narration, paymentPurpose },
    ...{ recipientName, recipientCurrency, recipientCountry },
  }
  return [null, payout.walletId].flatMap((walletId) =>
    [null, payout.transferType].map((transferType) => ({ ...request, walletId, transferType })),
  )
}
