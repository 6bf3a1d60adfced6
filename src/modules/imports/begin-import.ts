import { invalidInput } from '../../core/errors.ts'
import type { Reader } from '../../database/query.ts'
import { latestSequenceNumber } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import type { ImportOptions } from './import-outcome.ts'
import { endOfList } from './repository.ts'

/**
 * The operator log has one row for the whole import, even if the import runs many transactions.
 *
 * @throws DomainError INVALID_INPUT if the merchant has payouts, because payouts change balances that the import
 *   compares with the source
 */
export async function beginImport({ db, merchantId }: Context, { isDryRun }: ImportOptions): Promise<void> {
  const requireNoPayout = async (reader: Reader) => {
    const payouts = (await latestSequenceNumber(reader, { merchantId, name: 'payouts' }))?.latest ?? 0
    if (payouts === 0) return
    const message = 'must be a merchant without payouts, because its balances would not be those of the source'
    throw invalidInput([{ field: 'merchantId', code: 'INVALID_PARAMETER', message }])
  }
  if (isDryRun) await requireNoPayout(db)
  else await db.write(requireNoPayout, { merchantId })
}

const lists = { customers: 'customers', 'payout methods': 'payout_methods', wallets: 'wallets' } as const

/** `count` includes deleted objects. */
export async function findKnownObjects(
  { db, merchantId }: Context,
  kind: keyof typeof lists,
): Promise<{ readonly count: number; readonly lastId: string | null }> {
  const end = await endOfList(db, { merchantId, name: lists[kind] })
  return { count: end?.latest ?? 0, lastId: end?.latestId ?? null }
}
