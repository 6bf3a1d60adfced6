import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { limit, parseInput, rejectField } from '../../core/input.ts'
import { readHighWaterMark } from '../../database/database.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { defineInternalOperation } from '../../operations/define-operation.ts'
import { lockInstallation } from '../installation/repository.ts'
import type { Network } from '../networks/network.ts'
import { latestAddressNumber, numberAddressRows, unnumberedAddress, watchedAddressesAfter } from './repository.ts'

/** Addresses that are given a number in one transaction. */
const numberingBatchSize = 1_000

export const ListWatchedAddressesInput = z.object({
  after: z
    .unknown()
    .optional()
    .transform((value, context) => {
      if (value === undefined || value === '') return 0
      if (typeof value === 'string' && /^(0|[1-9]\d{0,8})$/.test(value)) return Number(value)
      return rejectField(context, 'INVALID_PARAMETER', 'must be the `next` of an earlier list')
    }),
  limit: limit(100),
})

/** An address to watch; `ref` is how reports name it, and says nothing of whose it is. */
type WatchedAddress = {
  readonly ref: string
  readonly network: Network
  readonly address: string
  readonly asset: string
}

/** Some addresses; `next` is where to go on, also when more have been given out since. */
export type WatchedAddressSlice = { readonly addresses: readonly WatchedAddress[]; readonly next: string }

/**
 * The addresses of all merchants' wallets that whoever has a node watches: whoever remembers the `next` of each list and asks
 * with it again misses none.
 *
 * That is why they are numbered when somebody asks: numbers that were given when a wallet is opened would become visible in
 * another order, and a list would pass over those that are not there yet.
 *
 * @throws Refusal INVALID_INPUT, also for a number beyond the latest: after a backup was restored others will have it
 */
export async function listWatchedAddresses(
  service: Service,
  input: z.input<typeof ListWatchedAddressesInput>,
): Promise<WatchedAddressSlice> {
  const { after, limit } = parseInput(ListWatchedAddressesInput, input)
  const { db } = service
  if (await unnumberedAddress(db, {})) await service.perform(numberAddresses, createContext(service, ''), {})
  const rows = await watchedAddressesAfter(db, { after, limit })
  if (rows.length === 0) await requireKnownNumber(service, after)
  const addresses = rows.map(({ addressId, network, address, currency }) => {
    return { ref: addressId, network, address, asset: currency }
  })
  return { addresses, next: String(rows.at(-1)?.number ?? after) }
}

/** Numbers addresses that have no number yet, one caller after the other. */
export const numberAddresses = defineInternalOperation(
  'numberAddresses',
  async ({ db }: Context, _input: object): Promise<number> => {
    const numbered = await db.write(async (tx) => {
      await lockInstallation(tx, {})
      return numberAddressRows(tx, { limit: numberingBatchSize })
    })
    return numbered.length
  },
)

async function requireKnownNumber({ db }: Service, after: number): Promise<void> {
  const latest = await readHighWaterMark(db, after, async () => (await latestAddressNumber(db, {}))?.number ?? 0)
  if (after <= latest) return
  const message = `must be at most ${latest}, the number of the latest address: list all again, from 0`
  throw invalidInput([{ field: 'after', code: 'INVALID_PARAMETER', message }])
}
