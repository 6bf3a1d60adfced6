import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

const shippedAt = '2026-01-01T00:00:00.000Z'
const networks = ['erc20', 'polygon', 'bep20', 'trc20', 'solana']

// The asset codes of the API contract have the same ids in every installation.
const shipped = [
  { assetType: 'STABLECOIN', code: 'USDC', minorUnitPlaces: 6, idPart: '1' },
  { assetType: 'STABLECOIN', code: 'USDT', minorUnitPlaces: 6, idPart: '2' },
  { assetType: 'FIAT', code: 'NGN', minorUnitPlaces: 2, idPart: '3' },
  { assetType: 'FIAT', code: 'ZAR', minorUnitPlaces: 2, idPart: '4' },
]

export const shippedAssetCodes: Migration = {
  name: '0004-shipped-asset-codes',
  statements: (_schema, { raw }) =>
    shipped.flatMap(({ assetType, code, minorUnitPlaces, idPart }) => [
      raw(sql`insert into asset_codes (id, asset_type, code, minor_unit_places, created_at, updated_at)
        values (${id(`${idPart}0`)}, ${assetType}, ${code}, ${sql.lit(minorUnitPlaces)}, ${shippedAt}, ${shippedAt})`),
      ...(assetType === 'STABLECOIN' ? networks : []).map((network, i) =>
        raw(sql`insert into asset_networks (id, asset_code, network, created_at)
          values (${id(`${idPart}${i + 1}`)}, ${code}, ${network}, ${shippedAt})`),
      ),
    ]),
}

function id(part: string): string {
  return `019b7679-7400-7000-8000-0000000000${part}`
}
