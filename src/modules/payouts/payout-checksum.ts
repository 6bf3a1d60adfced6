import { crc32 } from 'node:zlib'
import type { RowOf } from '../../database/tables.ts'
import { tables } from '../../database/tables.ts'
import { fingerprintOf } from '../../operations/idempotency/run-once.ts'
import type { Payout } from './payout.ts'
import { initialPayoutState } from './payout.ts'

/** What becomes of a payout later. */
const mutableColumns = [...Object.keys(initialPayoutState), 'updatedAt', 'checksum']

/** In the order of the table, to which columns are only added. */
const immutableColumns = Object.keys(tables.payouts).filter(
  (name) => !mutableColumns.includes(name),
) as (keyof Payout)[]

/** How many of them there were when the first checksum was made. */
const initialColumnCount = immutableColumns.indexOf('payoutMethodId') + 1

/** The payout with the checksum of what never changes in it, as its row has it. */
export function withChecksum<Written extends Payout>(payout: Written): Written & { checksum: number } {
  return Object.assign(payout, { checksum: checksumOf(payout) })
}

/**
 * CRC-32 finds every changed bit, and costs a fifth of a hash; it is meant against failing disks, not against somebody who
 * changes a row and its checksum.
 */
function checksumOf(payout: Payout): number {
  return checksumOfValues(immutableColumns.map((name) => payout[name]))
}

/** A column that came later is NULL in rows from before, and no part of their checksums while all behind it are. */
export function checksumOfValues(all: readonly unknown[]): number {
  let count = all.length
  while (count > initialColumnCount && (all[count - 1] ?? null) === null) count--
  // As a signed number, which is what an integer column holds on every engine.
  return crc32(all.slice(0, count).join('\u001f')) | 0
}

/**
 * Whether a payout's row says what was written. An earlier one without a checksum is held against the fingerprint of its
 * request, where that named the recipient; of the others nothing is known.
 */
export function isPayoutIntact(payout: RowOf<'payouts'>): boolean {
  if (payout.checksum !== null) return payout.checksum === checksumOf(payout)
  if (payout.fingerprint === null || payout.payoutMethodId !== null) return true
  return possibleRequests(payout).some((request) => fingerprintOf(request) === payout.fingerprint)
}

/** The requests that lead to this row: each may have named the wallet or left it to the service, the rail too. */
function possibleRequests(payout: Payout): object[] {
  const { customerId, assetCode, accountNumber, bankName, bankCode, amount, narration, paymentPurpose } = payout
  const { recipientName, recipientCurrency, recipientCountry } = payout
  const said = {
    ...{ customerId, assetCode, accountNumber, bankName, bankCode, amount, narration, paymentPurpose },
    ...{ recipientName, recipientCurrency, recipientCountry },
  }
  return [null, payout.walletId].flatMap((walletId) =>
    [null, payout.transferType].map((transferType) => ({ ...said, walletId, transferType })),
  )
}
