import type { InputFieldBuilder } from '@pothos/core'
import type { OwnerFilter } from '../customers/owner.ts'
import { invalidInput } from '../errors.ts'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import { localId } from './ids.ts'

/** Whose things a list shows. */
export const OwnerInput = builder.inputType('OwnerFilter', {
  description: "Whose: one customer's, or the merchant's own. Exactly one of the two.",
  isOneOf: true,
  fields: (t) => ({
    customerId: t.id({ description: "That customer's: its global id, or its UUID." }),
    merchant: t.boolean({ description: "`true`: those that the merchant itself owns, no customer's." }),
  }),
})

/** The owner that an operation looks for. */
export function ownerOf(filter: typeof OwnerInput.$inferInput | null | undefined): OwnerFilter {
  if (!filter) return 'any'
  if (filter.merchant === false) {
    throw invalidInput([{ field: 'owner.merchant', code: 'INVALID_PARAMETER', message: 'must be true, or absent' }])
  }
  return filter.customerId ? { customerId: localId('Customer', filter.customerId) } : 'merchant'
}

/** The fields of a filter by time. */
export function createdFilter(t: InputFieldBuilder<Types, 'InputObject'>) {
  return {
    createdFrom: t.field({ type: 'DateTime', description: 'Only what was made at this moment or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Only what was made before this moment.' }),
  }
}
