import { z } from 'zod'
import { parseUuid } from '../core/ids-and-clock.ts'
import { rejectField } from '../core/input.ts'

/** Whose things: everyone's, the merchant's own, or one customer's (ruling 18). */
export type OwnerFilter = 'any' | 'merchant' | { readonly customerId: string }

/** An `OwnerFilter` that may be absent or null, both of which mean everyone's; `message` refuses a customer that is no id. */
export const ownerFilter = (message = 'must name a customer by its UUID') =>
  z
    .custom<OwnerFilter | null>(() => true)
    .optional()
    .transform((owner, context): OwnerFilter => {
      if (owner === undefined || owner === null || owner === 'any') return 'any'
      if (owner === 'merchant') return 'merchant'
      const customerId = parseUuid(owner.customerId)
      return customerId ? { customerId } : rejectField(context, 'INVALID_FORMAT', message)
    })

const nonexistentOwnerId = '00000000-0000-0000-0000-000000000000'

/** The `ownerId` that rows of this owner have; `undefined` for everyone's. */
export function ownerIdOf(owner: OwnerFilter, { merchantId }: { merchantId: string }): string | undefined {
  if (owner === 'any') return undefined
  if (owner === 'merchant') return merchantId
  // The merchant is no customer of its own, though what it owns is stored under its id.
  return owner.customerId === merchantId ? nonexistentOwnerId : owner.customerId
}
