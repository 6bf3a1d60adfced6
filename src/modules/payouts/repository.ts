import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import {
  acrossCustomers,
  insertRow,
  listParam,
  merchantIdQuery,
  query,
  queryOne,
  selectFrom,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { PayoutStatus } from './payout.ts'

type PayoutKey = { merchantId: string; id: string }

/** The transaction that inserts a payout must also record the payout's ledger transfer. */
export const insertPayout = insertRow('payouts')

/** Reads the payouts of all customers, because an idempotency key must be unique within the merchant. */
export const payoutByIdempotencyKey = queryOne((p: Params<{ merchantId: string; idempotencyKey: string }>) =>
  acrossCustomers(
    selectFrom('payouts')
      .selectAll()
      .where('merchantId', '=', p.merchantId)
      .where('idempotencyKey', '=', p.idempotencyKey),
  ),
)

export const payoutBySequence = queryOne((p: Params<{ merchantId: string; sequence: number }>) =>
  selectFrom('payouts').selectAll().where('merchantId', '=', p.merchantId).where('sequence', '=', p.sequence),
)

/** Counts the customer's newest payouts by status. The query reads at most `limit` entries of `payouts_by_customer`. */
export const newestPayoutsByStatus = query((p: Params<{ merchantId: string; customerId: string; limit: number }>) =>
  selectFrom((eb) =>
    eb
      .selectFrom('payouts')
      .select('status')
      .where('merchantId', '=', p.merchantId)
      .where('customerId', '=', p.customerId)
      .orderBy('sequence', 'desc')
      .limit(p.limit)
      .as('newest'),
  )
    .select(['status', sql<number>`count(*)`.as('rowCount')])
    .groupBy('status'),
)

/** The payout with this reference id has an id between `idFrom` and `idTo`. */
export type ReferenceIdRange = { readonly referenceId: string; readonly idFrom: string; readonly idTo: string }

export const payoutByReference = queryOne((p: Params<{ merchantId: string } & ReferenceIdRange>) =>
  selectFrom('payouts')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('id', '>=', p.idFrom)
    .where('id', '<=', p.idTo)
    .where('referenceId', '=', p.referenceId)
    .orderBy('id', 'desc')
    .limit(1),
)

/** Returns `null` if the payout's current status is not `from`. */
export const updatePayoutStatus = statementOne(
  (
    p: Params<PayoutKey & { from: PayoutStatus; to: PayoutStatus; fiatReferenceId: string | null; updatedAt: string }>,
  ) =>
    updateTable('payouts')
      .set({
        status: p.to,
        fiatReferenceId: sql<string | null>`coalesce(fiat_reference_id, ${p.fiatReferenceId})`,
        updatedAt: p.updatedAt,
      })
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id)
      .where('status', '=', p.from)
      .returningAll(),
)

export const insertPayoutEvent = insertRow('payoutEvents')

export const eventsOfPayouts = query((p: Params<{ merchantId: string; payoutIds: readonly string[] }>) =>
  selectFrom('payoutEvents')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('payoutId', 'in', listParam(p.payoutIds))
    .orderBy('payoutId')
    .orderBy('createdAt')
    // If two events have the same time, COMPLETED must come before RETURNED.
    .orderBy('status'),
)

export const merchantOfPayout = merchantIdQuery('payouts')
