import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { limit, optional, optionalText, parseInput, uuid } from '../../core/input.ts'
import type { Reader } from '../../database/query.ts'
import type { Service } from '../../operations/context.ts'
import type { Merchant } from './merchant.ts'
import { merchantIdsAfter, merchantsAfter, merchantsWithNameLike } from './repository.ts'

const ListMerchantsInput = z.object({ name: optionalText(), after: optional(uuid()), limit: limit(20) })

const nilUuid = '00000000-0000-0000-0000-000000000000'

export type MerchantSlice = { readonly items: readonly Merchant[]; readonly next: string | null }

/**
 * Merchants are listed oldest first.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function listMerchants(
  { db }: Service,
  input: z.input<typeof ListMerchantsInput>,
): Promise<MerchantSlice> {
  const { name, after, limit } = parseInput(ListMerchantsInput, input)
  const range = { after: after ?? nilUuid, limit: limit + 1 }
  const merchants = await (name === null
    ? merchantsAfter(db, range)
    : merchantsWithNameLike(db, { ...range, pattern: `%${name.toLowerCase().replace(/[\\%_]/g, '\\$&')}%` }))
  const items = merchants.slice(0, limit)
  return { items, next: merchants.length > limit ? (items.at(-1)?.id ?? null) : null }
}

/** A query for 500 merchants takes one or two milliseconds. */
const batchSize = 500

export async function* iterateMerchantIds(db: Reader): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const merchantIds = (await merchantIdsAfter(db, { after, limit: batchSize })).map(({ id }) => id)
    if (merchantIds.length > 0) yield merchantIds
    if (merchantIds.length < batchSize) return
    after = merchantIds.at(-1) as string
    await nextTurn()
  }
}
