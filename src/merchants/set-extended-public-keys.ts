import { z } from 'zod'
import type { Service } from '../context.ts'
import type { FieldFault } from '../errors.ts'
import { notFound } from '../errors.ts'
import { optionalText, parse } from '../input.ts'
import { parseExtendedPublicKey } from '../networks/derive-address.ts'
import { sandboxExtendedPublicKeys } from '../networks/sandbox-addresses.ts'
import type { Merchant } from './merchant.ts'
import { merchantById, setExtendedPublicKeys } from './repository.ts'

export const SetExtendedPublicKeysInput = z.object({
  merchantId: z.string(),
  evmExtendedPublicKey: optionalText(),
  tronExtendedPublicKey: optionalText(),
})

/**
 * Sets the account-level public keys from which the merchant's deposit addresses are derived; one that is not given stays.
 *
 * @throws Refusal INVALID_INPUT for what is no such key, a private key, or in live mode the sandbox's own;
 *   RESOURCE_NOT_FOUND
 */
export async function setMerchantKeys(
  service: Service,
  input: z.input<typeof SetExtendedPublicKeysInput>,
): Promise<Merchant> {
  const request = parse(SetExtendedPublicKeysInput, input, [
    ...keyFault(service, 'evmExtendedPublicKey', input.evmExtendedPublicKey),
    ...keyFault(service, 'tronExtendedPublicKey', input.tronExtendedPublicKey),
  ])
  return service.db.write(async (tx) => {
    const merchant = await merchantById(tx, { id: request.merchantId })
    if (!merchant) throw notFound('Merchant')
    const changed = {
      ...merchant,
      evmExtendedPublicKey: request.evmExtendedPublicKey ?? merchant.evmExtendedPublicKey,
      tronExtendedPublicKey: request.tronExtendedPublicKey ?? merchant.tronExtendedPublicKey,
    }
    await setExtendedPublicKeys(tx, changed)
    return changed
  })
}

function keyFault({ mode }: Service, field: string, key: string | null | undefined): FieldFault[] {
  if (!key?.trim()) return []
  const fault = (message: string): FieldFault[] => [{ field, code: 'INVALID_FORMAT', message }]
  // Anyone can spend what is sent to an address of the sandbox's key.
  if (mode === 'live' && Object.values<string>(sandboxExtendedPublicKeys).includes(key.trim())) {
    return fault("must not be the sandbox's own key, whose private key everyone knows")
  }
  try {
    parseExtendedPublicKey(key.trim())
    return []
  } catch (error) {
    return fault(`is not usable: ${(error as Error).message}`)
  }
}
