import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { invalidInput } from '../../core/errors.ts'
import { optionalText, parseInput } from '../../core/input.ts'
import type { Tx } from '../../database/query.ts'
import type { Service } from '../../operations/context.ts'
import { lockInstallation } from '../installation/repository.ts'
import { publicKeyAndChainCode } from '../networks/derive-address.ts'
import { sandboxExtendedPublicKeys } from '../networks/sandbox-addresses.ts'
import type { Merchant } from './merchant.ts'
import { lockMerchant } from './merchant.ts'
import { merchantsWithExtendedPublicKeys, updateExtendedPublicKeys } from './repository.ts'

export const SetExtendedPublicKeysInput = z.object({
  merchantId: z.string(),
  evmExtendedPublicKey: optionalText(),
  tronExtendedPublicKey: optionalText(),
})

/**
 * If a key is absent from the input, the stored key stays.
 *
 * @throws DomainError INVALID_INPUT for a malformed or private key, or the sandbox's key in live mode;
 *   RESOURCE_NOT_FOUND
 */
export async function setExtendedPublicKeys(
  service: Service,
  input: z.input<typeof SetExtendedPublicKeysInput>,
): Promise<Merchant> {
  const request = parseInput(SetExtendedPublicKeysInput, input, [
    ...keyErrors(service, 'evmExtendedPublicKey', input.evmExtendedPublicKey),
    ...keyErrors(service, 'tronExtendedPublicKey', input.tronExtendedPublicKey),
  ])
  return service.db.write(async (tx) => {
    await lockInstallation(tx, {})
    const merchant = await lockMerchant(tx, request.merchantId)
    await rejectSharedKeys(tx, { ...request, merchantId: merchant.id })
    const changed = {
      ...merchant,
      evmExtendedPublicKey: keepEquivalentKey(merchant.evmExtendedPublicKey, request.evmExtendedPublicKey),
      tronExtendedPublicKey: keepEquivalentKey(merchant.tronExtendedPublicKey, request.tronExtendedPublicKey),
    }
    await updateExtendedPublicKeys(tx, changed)
    return changed
  })
}

/**
 * Keeps the stored key if the new key is only a different encoding of the stored key. A new encoding would restart at
 * derivation index 0 and derive the same addresses again.
 */
function keepEquivalentKey(stored: string | null, requested: string | null): string | null {
  if (stored === null || requested === null) return requested ?? stored
  return publicKeyAndChainCode(stored) === publicKeyAndChainCode(requested) ? stored : requested
}

/**
 * Rejects an extended public key of another merchant, because both merchants would get the same addresses. Compares
 * only public key and chain code, because exports of the same key can differ in their metadata.
 */
async function rejectSharedKeys(
  tx: Tx,
  { merchantId, ...keys }: z.output<typeof SetExtendedPublicKeysInput>,
): Promise<void> {
  const others = (await merchantsWithExtendedPublicKeys(tx, {})).filter(({ id }) => id !== merchantId)
  const taken = new Set(
    others
      .flatMap(({ evmExtendedPublicKey, tronExtendedPublicKey }) => [evmExtendedPublicKey, tronExtendedPublicKey])
      .flatMap((key) => (key === null ? [] : [publicKeyAndChainCode(key)])),
  )
  for (const [field, key] of Object.entries(keys)) {
    if (key !== null && taken.has(publicKeyAndChainCode(key))) {
      throw invalidInput([{ field, code: 'INVALID_PARAMETER', message: 'must not be the key of another merchant' }])
    }
  }
}

function keyErrors({ mode }: Service, field: string, key: string | null | undefined): FieldError[] {
  if (!key?.trim()) return []
  const formatErrors = (message: string): FieldError[] => [{ field, code: 'INVALID_FORMAT', message }]
  try {
    const normalized = publicKeyAndChainCode(key.trim())
    if (mode !== 'live' || !sandboxKeys.includes(normalized)) return []
    return formatErrors("must not be the sandbox's own key, because its private key is public")
  } catch (error) {
    return formatErrors(`is not usable: ${(error as Error).message}`)
  }
}

const sandboxKeys = Object.values(sandboxExtendedPublicKeys).map(publicKeyAndChainCode)
