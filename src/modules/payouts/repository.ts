import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { acrossCustomers, insertRow, listParam, merchantIdQuery, query, queryOne, selectFrom, statementOne, updateTable } from '../../database/query.ts'
import type { PayoutStatus } from './payout.ts'

type PayoutKey = { merchantId: string; id: string }

/** Records a payout; it may only be written beside its ledger transfer. */
export const insertPayout = insertRow('payouts')

/** The payout that a key was used for, of whichever customer: its fingerprint says whose it is. */
export const payoutByIdempotencyKey = queryOne((p: Params<{ merchantId: string; idempotencyKey: string }>) =>
  acrossCustomers(
    selectFrom('payouts')
      .selectAll()
      .where('merchantId', '=', p.merchantId)
      .where('idempotencyKey', '=', p.idempotencyKey),
  ),
)

/** The payout of a number. */
export const payoutBySequence = queryOne((p: Params<{ merchantId: string; sequence: number }>) =>
  selectFrom('payouts').selectAll().where('merchantId', '=', p.merchantId).where('sequence', '=', p.sequence),
)

/** A reference id, and the ids between which that of its payout lies: it was made just before. */
export type ReferenceIdRange = { readonly referenceId: string; readonly idFrom: string; readonly idTo: string }

/** The payout that has a reference id: it is looked for along the primary key, the nearest first. */
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

/** Moves a payout from one status to another; `null` when it is not in the first. */
export const updatePayoutStatus = statementOne(
  (
    p: Params<PayoutKey & { from: PayoutStatus; to: PayoutStatus; fiatReferenceId: string | null; updatedAt: string }>,
  ) =>
    updateTable('payouts')
      .set({
        status: p.to,
        // Never another than the one that was told of.
        fiatReferenceId: sql<string | null>`coalesce(fiat_reference_id, ${p.fiatReferenceId})`,
        updatedAt: p.updatedAt,
      })
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id)
      .where('status', '=', p.from)
      .returningAll(),
)

export const insertPayoutEvent = insertRow('payoutEvents')

/** What became of the payouts among `payoutIds`, oldest first for each. */
export const eventsOfPayouts = query((p: Params<{ merchantId: string; payoutIds: readonly string[] }>) =>
  selectFrom('payoutEvents')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('payoutId', 'in', listParam(p.payoutIds))
    .orderBy('payoutId')
    .orderBy('createdAt')
    // Of the same time only COMPLETED and RETURNED can be.
    .orderBy('status'),
)

/** The merchant of a payout, for an operator who has nothing but the payout's id: one look per merchant. */
export const merchantOfPayout = merchantIdQuery('payouts')
