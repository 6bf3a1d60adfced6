import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'

export const customerTypes = defineEnum({
  individual: 'A person, with a first and a last name.',
  business: 'A company, with a business name.',
})
export type CustomerType = (typeof customerTypes)[number]

export const customerStatuses = defineEnum({
  active: 'Wallets, payout methods and payouts can be made for it.',
  closed: 'What it owns stays readable, and nothing can be made or changed.',
})

/** Whom the merchant serves (contract 2.1). A closed one keeps what it owns, and nothing of it can be made or changed. */
export type Customer = RowOf<'customers'>
