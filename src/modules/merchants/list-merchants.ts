import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { limit, optional, optionalText, parseInput, uuid } from '../../core/input.ts'
import type { Reader } from '../../database/query.ts'
import type { Service } from '../../operations/context.ts'
import type { Merchant } from './merchant.ts'
import { merchantIdsAfter, merchantsAfter, merchantsWithNameLike } from './repository.ts'

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

/** Merchants that whoever goes through all of them has at once: a query over so many takes a millisecond or two. */
const batchSize = 500

/** The ids of every merchant in their order, some at a time, with a turn for others in between; an operator's view. */
export async function* iterateMerchantIds(db: Reader): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const merchantIds = (await merchantIdsAfter(db, { after, limit: batchSize })).map(({ id }) => id)
    if (merchantIds.length > 0) yield merchantIds
    if (merchantIds.length < batchSize) return
    after = merchantIds.at(-1) as string
    await nextTurn()
  }
}
