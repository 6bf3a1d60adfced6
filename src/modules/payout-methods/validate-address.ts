import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { asciiWord, parseInput, text } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import type { AssetCode } from '../asset-codes/asset-code.ts'
import { assetCodeErrors, findAsset } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { addressFormatError } from '../networks/input-formats.ts'

export const ValidateAddressInput = z.object({ currency: text(), address: asciiWord(128) })

export type ValidAddress = { readonly valid: true }

/**
 * Ruling 127.
 *
 * @param input `currency` may be in upper or lower case
 * @throws DomainError INVALID_INPUT, also if the address is invalid on all networks of the currency
 */
export async function validateAddress(
  { db }: Context,
  input: z.input<typeof ValidateAddressInput>,
): Promise<ValidAddress> {
  const assets = await assetCodesWithNetworks(db)
  const code = typeof input.currency === 'string' ? input.currency.toUpperCase() : input.currency
  parseInput(ValidateAddressInput, input, [
    ...assetCodeErrors(assets, { field: 'currency', code, assetType: 'STABLECOIN' }),
    ...addressErrors(findAsset(assets, code), input.address),
  ])
  return { valid: true }
}

function addressErrors(asset: AssetCode | undefined, sent: unknown): FieldError[] {
  const { data: address } = ValidateAddressInput.shape.address.safeParse(sent)
  const networks = asset?.networks?.map(({ network }) => network) ?? []
  if (address === undefined || networks.length === 0) return []
  if (networks.some((network) => addressFormatError(network, address) === null)) return []
  return [{ field: 'address', code: 'INVALID_FORMAT', message: `must be an address on one of ${networks.join(', ')}` }]
}
