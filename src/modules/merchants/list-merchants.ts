import { z } from 'zod'
import { limit, optional, optionalText, parseInput, uuid } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import type { Merchant } from './merchant.ts'
import { merchantsAfter, merchantsWithNameLike } from './repository.ts'

const ListMerchantsInput = z.object({ name: optionalText(), after: optional(uuid()), limit: limit(20) })

/** Before every id there is. */
const nilUuid = '00000000-0000-0000-0000-000000000000'

/** A part of the list of merchants; `next` is what `after` takes for the part after it, `null` at the end. */
export type MerchantSlice = { readonly items: readonly Merchant[]; readonly next: string | null }

/**
 * The merchants, or those with a text in their names, the oldest first, for an operator. A name is looked for in all of them.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listMerchants(
  { db }: Service,
  input: z.input<typeof ListMerchantsInput>,
): Promise<MerchantSlice> {
  const { name, after, limit } = parseInput(ListMerchantsInput, input)
  const asked = { after: after ?? nilUuid, limit: limit + 1 }
  const found = await (name === null
    ? merchantsAfter(db, asked)
    : merchantsWithNameLike(db, { ...asked, pattern: `%${name.toLowerCase().replace(/[\\%_]/g, '\\$&')}%` }))
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null }
}
