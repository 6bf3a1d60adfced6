import type { RowOf } from '../database/tables.ts'

/** What a payout of `assetCode` to `recipientCurrency` costs from `effectiveAt` on: `flat` plus `percent` per cent. */
export type Fee = RowOf<'fees'>
