import { mapMaybe } from '../core/maybe-promise.ts'
import type { ColumnKind } from './columns.ts'
import type { Database } from './database.ts'
import { tables } from './tables.ts'

/**
 * The same database for who wants to see what would be read, and nothing of it: each query runs, and then `count` rows are answered
 * that nobody has stored. Every id of the first row is the same, as if it led to itself, and those of the second are others.
 * Nothing can be written.
 */
export function stubDatabase(db: Database, count: number): Database {
  const rows = Array.from({ length: count }, (_, place) => createStubRow(place + 1))
  const refuse = () => Promise.reject(new Error('nothing is written beside invented rows'))
  let queries = 0
  return {
    ...db,
    execute: (query, params) => {
      // Whoever reads on until there is no more would never end.
      if (++queries > maxStubQueries) throw new Error('too much is read of invented rows')
      return mapMaybe(db.execute(query, params), () =>
        rows.map((row) => (query.projection ? query.projection.names.map((name) => row[name]) : row)),
      ) as never
    },
    snapshot: refuse,
    write: refuse,
  }
}

/** Queries that are run beside invented rows: more than a document within its limits has. */
const maxStubQueries = 200

/** The id of an invented row; no merchant has it. */
export function stubId(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

type StubRow = Readonly<Record<string, unknown>>

/** A row of whichever table: it has the columns of all. */
function createStubRow(number: number): StubRow {
  const columns = Object.values(tables).flatMap((table) => Object.entries<{ readonly kind: ColumnKind }>(table))
  // Where the tables differ, ids are what leads to other rows.
  const inOrder = columns.toSorted(([, one], [, other]) => Number(one.kind === 'uuid') - Number(other.kind === 'uuid'))
  const values = inOrder.map(([name, { kind }]) => [name, stubValues[kind](number)] as const)
  // What queries themselves call something.
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
