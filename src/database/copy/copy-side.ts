import type { OnProgress } from '../database.ts'
import type { CopiedTable, TableReference } from './copied-tables.ts'

/**
 * A stored value is a string in the same format for both engines: integers in decimal, timestamps in ISO 8601, and JSON
 * byte for byte.
 */
export type CopiedValue = string | null

export type CopiedRow = readonly CopiedValue[]

export type RowKey = readonly string[]

/** An interrupted copy continues after the row with this key. Earlier tables are complete. */
export type CopyProgress = { readonly table: string; readonly key: RowKey }

/** `other` is the name of the other database, without a password. */
export type CopyMarker = {
  readonly copyId: string
  readonly role: 'source' | 'target'
  readonly other: string
  readonly startedAt: string
  readonly completedAt: string | null
  readonly progress: CopyProgress | null
}

/** Every change of the source or target database is one transaction. */
export type CopySide = {
  readonly name: string
  readonly readMarker: () => Promise<CopyMarker | null>
  /**
   * Waits for running writes, then blocks all writes of other processes durably. Removes all rows of `clearedTables`.
   */
  readonly fence: (marker: CopyMarker, clearedTables?: readonly string[]) => Promise<void>
  readonly mark: (marker: CopyMarker) => Promise<void>
  /** `null` removes the marker. */
  readonly unfence: (marker: CopyMarker | null) => Promise<void>
  readonly references: () => Promise<readonly TableReference[]>
  readonly keyOf: (table: CopiedTable) => Promise<readonly string[]>
  readonly countRows: (table: CopiedTable) => Promise<number>
  readonly hasRows: (table: CopiedTable) => Promise<boolean>
  /** Reads rows in the order of their keys, compared as bytes, in batches of limited size. */
  readonly read: (table: CopiedTable, key: readonly string[], after: RowKey | null) => AsyncGenerator<CopiedRow[]>
  /** Inserts rows, and stores the progress in the same transaction. */
  readonly insert: (table: CopiedTable, rows: readonly CopiedRow[], progress: CopyProgress) => Promise<void>
  /**
   * Prepares a new target for many rows. `beginLoad` is called before the first row, and again if the copy was
   * interrupted before that row.
   */
  readonly beginLoad: () => Promise<void>
  /** Reverts `beginLoad`, and prepares the planner for the new rows. */
  readonly endLoad: (onProgress: OnProgress) => Promise<void>
  readonly close: () => Promise<void>
}

const minBatchRows = 100
const maxBatchRows = 2_000
const maxBatchCharacters = 500_000

/** Rows of one table have similar sizes, so memory use stays constant. */
export function nextBatchSize(rows: readonly CopiedRow[]): number {
  if (rows.length === 0) return minBatchRows
  let characters = 0
  for (const row of rows) for (const value of row) characters += value?.length ?? 0
  const fitting = Math.floor((maxBatchCharacters * rows.length) / Math.max(1, characters))
  return Math.max(1, Math.min(maxBatchRows, fitting, rows.length * 10))
}

/** The error message for callers must not reveal the new database. */
export const fencedMessage =
  'The database is being moved, and stores nothing until the service runs on the new one. Retry with the same idempotency key.'
