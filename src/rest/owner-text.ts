import { z } from 'zod'
import { parseUuid } from '../ids.ts'
import { refuse } from '../input.ts'
import type { OwnerFilter } from '../lists/owner.ts'

/** Absent or empty for all, `null` for the merchant's own, else a customer (ruling 18); `null` for any other text. */
export function ownerOfText(value: unknown): OwnerFilter | null {
  if (value === undefined || value === '') return 'any'
  if (value === null || value === 'null') return 'merchant'
  const customerId = parseUuid(value)
  return customerId === null ? null : { customerId }
}

/** An `OwnerFilter` as a query spells it. */
export const ownerText = () =>
  z
    .unknown()
    .optional()
    .transform(
      (value, context) =>
        ownerOfText(value) ?? refuse(context, 'INVALID_FORMAT', 'must be a UUID, or null for the merchant'),
    )

/** How the reference describes it, with what is said of whose things they are. */
export const ownerTextField = (description: string) => ({
  anyOf: [{ type: 'string', format: 'uuid' }, { enum: ['null', ''] }],
  description,
})
