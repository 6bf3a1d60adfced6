import { z } from 'zod'
import type { Service } from '../context.ts'
import type { Tx } from '../database/query.ts'
import type { FieldFault } from '../errors.ts'
import { invalidInput } from '../errors.ts'
import { optionalText, parse } from '../input.ts'
import { lockInstallation } from '../installation/repository.ts'
import { parseExtendedPublicKey } from '../networks/derive-address.ts'
import { sandboxExtendedPublicKeys } from '../networks/sandbox-addresses.ts'
import { lockMerchant } from './find-merchant.ts'
import type { Merchant } from './merchant.ts'
import { otherMerchantWithKey, updateExtendedPublicKeys } from './repository.ts'

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
export async function setExtendedPublicKeys(
  service: Service,
  input: z.input<typeof SetExtendedPublicKeysInput>,
): Promise<Merchant> {
  const request = parse(SetExtendedPublicKeysInput, input, [
    ...keyFault(service, 'evmExtendedPublicKey', input.evmExtendedPublicKey),
    ...keyFault(service, 'tronExtendedPublicKey', input.tronExtendedPublicKey),
  ])
  return service.db.write(async (tx) => {
    await lockInstallation(tx, {})
    const merchant = await lockMerchant(tx, request.merchantId)
    await refuseSharedKeys(tx, service, { ...request, merchantId: merchant.id })
    const changed = {
      ...merchant,
      evmExtendedPublicKey: request.evmExtendedPublicKey ?? merchant.evmExtendedPublicKey,
      tronExtendedPublicKey: request.tronExtendedPublicKey ?? merchant.tronExtendedPublicKey,
    }
    await updateExtendedPublicKeys(tx, changed)
    return changed
  })
}

/** Two merchants with one key would be given the same addresses, and nobody could tell whose deposit came in. */
async function refuseSharedKeys(
  tx: Tx,
  { mode }: Service,
  { merchantId, ...keys }: z.output<typeof SetExtendedPublicKeysInput>,
): Promise<void> {
  for (const [field, key] of Object.entries(keys)) {
    if (mode === 'live' && key !== null && (await otherMerchantWithKey(tx, { merchantId, key }))) {
      throw invalidInput([{ field, code: 'INVALID_PARAMETER', message: 'must not be the key of another merchant' }])
    }
  }
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
