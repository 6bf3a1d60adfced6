import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { invalidInput } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { oneOf, parseInput, text } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import { networks } from '../networks/network.ts'
import type { AssetCode } from './asset-code.ts'
import { assetTypes } from './asset-code.ts'
import { assetCodeByCode, insertAssetCode, insertAssetNetwork } from './repository.ts'

export const AddAssetCodeInput = z.object({
  assetType: oneOf(assetTypes),
  code: text(12),
  minorUnitPlaces: z.number().int().min(0).max(8),
  networks: z.array(oneOf(networks)),
})

/** @throws DomainError INVALID_INPUT, also if the code exists or the networks do not fit the type */
export async function addAssetCode(service: Service, input: z.input<typeof AddAssetCodeInput>): Promise<AssetCode> {
  const { assetType, code, minorUnitPlaces, networks: names } = parseInput(AddAssetCodeInput, input, inputErrors(input))
  return service.db.write(async (tx) => {
    if (await assetCodeByCode(tx, { code })) {
      throw invalidInput([{ field: 'code', code: 'INVALID_PARAMETER', message: 'is supported already' }])
    }
    const createdAt = timestamp(service.now())
    const asset = { id: service.newId(), assetType, code, minorUnitPlaces, createdAt, updatedAt: createdAt }
    await insertAssetCode(tx, asset)
    const added = names.map((network) => ({ id: service.newId(), assetCode: code, network, createdAt }))
    for (const network of added) await insertAssetNetwork(tx, network)
    return { ...asset, networks: assetType === 'FIAT' ? null : added }
  })
}

function inputErrors({ assetType, code, networks: names }: z.input<typeof AddAssetCodeInput>): FieldError[] {
  const errors: FieldError[] = []
  if (!/^[A-Z][A-Z0-9]{2,11}$/.test(code)) {
    errors.push({ field: 'code', code: 'INVALID_FORMAT', message: 'must be 3 to 12 capital letters and digits' })
  }
  if ((assetType === 'STABLECOIN') !== names.length > 0 || new Set(names).size !== names.length) {
    const message = 'must name each network once for a STABLECOIN, and none for FIAT'
    errors.push({ field: 'networks', code: 'INVALID_PARAMETER', message })
  }
  return errors
}
