import type { RowOf } from '../database/tables.ts'

export const customerTypes = ['individual', 'business'] as const
export type CustomerType = (typeof customerTypes)[number]

export const customerStatuses = ['active', 'closed'] as const
export type CustomerStatus = (typeof customerStatuses)[number]

/** Whom the merchant serves (contract 2.1). A closed one keeps what it owns, and nothing of it can be made or changed. */
export type Customer = RowOf<'customers'>
