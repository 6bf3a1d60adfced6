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

/** `ref` identifies a watched address in deposit reports and does not disclose the owner. */
type WatchedAddress = {
  readonly ref: string
  readonly network: Network
  readonly address: string
  readonly asset: string
}

/** `next` is never null, because new addresses can follow at any time. */
export type WatchedAddressSlice = { readonly addresses: readonly WatchedAddress[]; readonly next: string }

/**
 * Lists the watched addresses of all merchants. A client that continues with `next` misses no address.
 *
 * An address gets a sequence number when it is first listed. If the operation that creates an address numbered it,
 * concurrent transactions could commit the numbers out of order, and a client would miss an address.
 *
 * @throws DomainError INVALID_INPUT, also if the cursor is beyond the latest number, for example after a restore from a
 *   backup
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
  const message = `must be at most ${latest}, the number of the latest address. List all addresses again from 0`
  throw invalidInput([{ field: 'after', code: 'INVALID_PARAMETER', message }])
}
