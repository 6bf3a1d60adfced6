import { describe, expect, test } from 'vitest'
import { findAssetCodes, findAssetNetworks, listAssetCodes } from '../../../src/modules/asset-codes/list-asset-codes.ts'
import { getMerchant } from '../../../src/modules/merchants/merchant.ts'
import { everyEngine, startApp } from '../../support/app.ts'

describe.each(everyEngine)('lookups of asset codes and merchants by id on %s', (engine) => {
  test('findAssetCodes returns only asset codes, findAssetNetworks returns only networks, and both ignore other ids', async () => {
    const app = await startApp(engine)
    const assets = await listAssetCodes(app.context(), {})
    const networks = assets.flatMap((asset) => asset.networks ?? [])
    const [asset, network] = [assets[1], networks[2]]

    expect(await findAssetCodes(app.context(), [asset?.id ?? '', network?.id ?? '', 'garbage'])).toEqual([asset])
    expect(await findAssetNetworks(app.context(), [asset?.id ?? '', network?.id ?? '', 'garbage'])).toEqual([network])
  })

  test('getMerchant returns the merchant of the caller', async () => {
    const app = await startApp(engine)
    expect(await getMerchant(app.context())).toMatchObject({ id: app.merchant.id, name: 'Test merchant' })
  })
})
