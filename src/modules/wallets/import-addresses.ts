import { invalidInput } from '../../core/errors.ts'
import { takeSequenceNumber } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { lockInstallation } from '../installation/repository.ts'
import { solanaAddressError } from '../networks/solana.ts'
import { insertPooledAddress, merchantOfPooledAddress } from './repository.ts'

/**
 * Adds Solana addresses to the merchant's pool, to be given out in this order; those that it has are passed over.
 *
 * @throws Refusal INVALID_INPUT that names the first lines that are no addresses, or an address of another merchant; then none
 *   is added
 */
export async function importSolanaAddresses(
  context: Context,
  { addresses }: { addresses: readonly string[] },
): Promise<{ added: number; known: number }> {
  const faults = addresses.flatMap((address, line) => {
    const fault = solanaAddressError(address)
    return fault === null ? [] : [{ field: `line ${line + 1}`, code: 'INVALID_FORMAT', message: fault } as const]
  })
  if (faults.length > 0) throw invalidInput(faults.slice(0, 10))
  const { merchantId } = context
  const family = 'solana'
  return context.db.write(async (tx) => {
    await lockInstallation(tx, {})
    let added = 0
    for (const address of new Set(addresses)) {
      const owner = await merchantOfPooledAddress(tx, { family, address })
      if (owner?.id === merchantId) continue
      if (owner)
        throw invalidInput([
          { field: address, code: 'INVALID_PARAMETER', message: 'is in the pool of another merchant' },
        ])
      const sequence = await takeSequenceNumber(tx, merchantId, `pooled_addresses:${family}`)
      await insertPooledAddress(tx, { merchantId, family, sequence, address })
      added++
    }
    return { added, known: addresses.length - added }
  })
}
