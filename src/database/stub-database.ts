import { mapMaybe } from '../core/maybe-promise.ts'
import type { ColumnKind } from './columns.ts'
import type { Database } from './database.ts'
import { tables } from './tables.ts'

/**
 * For the warm-up, runs each query but returns `count` stub rows instead of the result. All ids in a stub row are
 * equal, so that every reference leads to a stub row.
 */
export function stubDatabase(db: Database, count: number): Database {
  const rows = Array.from({ length: count }, (_, index) => createStubRow(index + 1))
  const reject = () => Promise.reject(new Error('a stub database is read-only'))
  let queries = 0
  return {
    ...db,
    execute: (query, params) => {
      if (++queries > maxStubQueries) throw new Error('too many queries on a stub database')
      return mapMaybe(db.execute(query, params), () =>
        rows.map((row) => (query.projection ? query.projection.names.map((name) => row[name]) : row)),
      ) as never
    },
    snapshot: reject,
    write: reject,
  }
}

const maxStubQueries = 200

export function stubId(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

type StubRow = Readonly<Record<string, unknown>>

function createStubRow(number: number): StubRow {
  const columns = Object.values(tables).flatMap((table) => Object.entries<{ readonly kind: ColumnKind }>(table))
  // If tables have columns with the same name, the column of type `uuid` wins, because an id leads to further queries.
  const idsLast = columns.toSorted(([, one], [, other]) => Number(one.kind === 'uuid') - Number(other.kind === 'uuid'))
  const values = idsLast.map(([name, { kind }]) => [name, stubValues[kind](number)] as const)
  return { ...Object.fromEntries(values), sequence: number, rowCount: 1, total: 1 }
}

const stubValues: Readonly<Record<ColumnKind, (number: number) => unknown>> = {
  uuid: stubId,
  text: (number) => `text ${number}`,
  timestamp: () => '2000-01-01T00:00:00.000Z',
  integer: (number) => number,
  amount: BigInt,
  json: () => [],
}
