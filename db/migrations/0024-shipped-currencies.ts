import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

const shippedAt = '2026-01-01T00:00:00.000Z'

// Ruling 52 adds these currencies. The row of a currency that an operator has already added stays unchanged.
const shipped = [
  { code: 'USD', idPart: '50' },
  { code: 'CAD', idPart: '60' },
  { code: 'EUR', idPart: '70' },
  { code: 'GBP', idPart: '80' },
]

export const shippedCurrencies: Migration = {
  name: '0024-shipped-currencies',
  statements: (_schema, { raw }) =>
    shipped.map(({ code, idPart }) =>
      raw(sql`insert into asset_codes (id, asset_type, code, minor_unit_places, created_at, updated_at)
        values (${`019b7679-7400-7000-8000-0000000000${idPart}`}, 'FIAT', ${code}, 2, ${shippedAt}, ${shippedAt})
        on conflict (code) do nothing`),
    ),
}
