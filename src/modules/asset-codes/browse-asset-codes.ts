import { z } from 'zod'
import { oneOf, optional, parseInput } from '../../core/input.ts'
import type { Slice } from '../../lists/slice.ts'
import { createInMemoryList, readSlice, sliceFields } from '../../lists/slice.ts'
import type { Context } from '../../operations/context.ts'
import type { AssetCode } from './asset-code.ts'
import { assetTypes } from './asset-code.ts'
import { listAssetCodes } from './list-asset-codes.ts'

export const BrowseAssetCodesInput = z.object({ assetType: optional(oneOf(assetTypes)), ...sliceFields })

/**
 * A slice of the supported asset codes with their networks, newest first.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function browseAssetCodes(
  context: Context,
  input: z.input<typeof BrowseAssetCodesInput>,
): Promise<Slice<AssetCode>> {
  const { first, after, last, before, ...filters } = parseInput(BrowseAssetCodesInput, input)
  const assets = await listAssetCodes(context, filters)
  return readSlice(createInMemoryList(['asset_codes', filters], assets), { first, after, last, before })
}
