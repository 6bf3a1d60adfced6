import { describe, expect, test } from 'vitest'
import { addAssetCode } from '../../../src/modules/asset-codes/add-asset-code.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { bankMethodBody } from '../../support/bodies.ts'

const euroCoin = { assetType: 'STABLECOIN', code: 'EURC', minorUnitPlaces: 6, networks: ['solana', 'erc20'] } as const

describe.each(everyEngine)('asset codes on %s', (engine) => {
  test('are initially the eight codes of the contract, and each stablecoin has its networks', async () => {
    const app = await startApp(engine)
    const { body } = await app.rest('GET', '/api/asset-codes')
    const networks = ['Erc20', 'Polygon', 'Bep20', 'Trc20', 'Solana']
    const summaries = body.data.map(({ code, asset_type, networks }: (typeof body.data)[number]) => [
      code,
      asset_type,
      networks?.map(({ network }: { network: string }) => network) ?? null,
    ])
    expect(summaries).toEqual([
      ['GBP', 'FIAT', null],
      ['EUR', 'FIAT', null],
      ['CAD', 'FIAT', null],
      ['USD', 'FIAT', null],
      ['ZAR', 'FIAT', null],
      ['NGN', 'FIAT', null],
      ['USDT', 'STABLECOIN', networks],
      ['USDC', 'STABLECOIN', networks.filter((network) => network !== 'Trc20')],
    ])
  })

  test.each(['USD', 'CAD', 'EUR', 'GBP'])(
    'ruling 52: %s is accepted for a wallet and for a bank payout method',
    async (currency) => {
      const app = await startApp(engine)
      const wallet = await app.rest('POST', '/api/wallets', { body: { currency, description: 'Main' } })
      const method = await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, currency } })
      expect([wallet.status, wallet.body.data.asset_type, method.status]).toEqual([201, 'FIAT', 201])
    },
  )

  test('are filtered by asset type', async () => {
    const app = await startApp(engine)
    const codes = async (query: string) =>
      (await app.rest('GET', `/api/asset-codes?${query}`)).body.data.map(({ code }: { code: string }) => code)
    expect(await codes('asset_type=FIAT')).toEqual(['GBP', 'EUR', 'CAD', 'USD', 'ZAR', 'NGN'])
    expect(await codes('asset_type=STABLECOIN')).toEqual(['USDT', 'USDC'])
    expect(await codes('asset_type=')).toHaveLength(8)
    expect(await codes('page=0&limit=1')).toHaveLength(8)
  })

  test('are listed with the newest code first, and with their networks in the order of the input', async () => {
    const app = await startApp(engine)
    await addAssetCode(app.service, { ...euroCoin, networks: [...euroCoin.networks] })
    const { body } = await app.rest('GET', '/api/asset-codes')
    expect(body.data[0]).toMatchObject({ code: 'EURC', networks: [{ network: 'Solana' }, { network: 'Erc20' }] })
    expect(body.data).toHaveLength(9)
  })

  test.each([
    ['an existing code', { code: 'USDC' }],
    ['a lowercase code', { code: 'eurc' }],
    ['a stablecoin without a network', { networks: [] }],
    ['fiat with a network', { assetType: 'FIAT' as const }],
    ['a duplicate network', { networks: ['erc20' as const, 'erc20' as const] }],
  ])('addAssetCode rejects %s and adds no asset code', async (_, change) => {
    const app = await startApp(engine)
    const add = async () => addAssetCode(app.service, { ...euroCoin, networks: [...euroCoin.networks], ...change })
    await expect(add()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect((await app.rest('GET', '/api/asset-codes')).body.data).toHaveLength(8)
  })
})
