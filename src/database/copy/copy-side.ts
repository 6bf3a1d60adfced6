import type { OnProgress } from '../database.ts'
import type { CopiedTable, TableReference } from './copied-tables.ts'

/**
 * Both engines convert a stored value to the same string: integers in decimal, timestamps in ISO 8601, and JSON byte
 * for byte.
 */
export type CopiedValue = string | null

export type CopiedRow = readonly CopiedValue[]

export type RowKey = readonly string[]

/** An interrupted copy continues after the row with this key. Tables that precede `table` are complete. */
export type CopyProgress = { readonly table: string; readonly key: RowKey }

/** `other` is the name of the other database, without its password. */
export type CopyMarker = {
  readonly copyId: string
  readonly role: 'source' | 'target'
  readonly other: string
  readonly startedAt: string
  readonly completedAt: string | null
  readonly progress: CopyProgress | null
}

/** Each change of the source or target is a separate transaction. */
export type CopySide = {
  readonly name: string
  readonly readMarker: () => Promise<CopyMarker | null>
  /**
   * Waits for running writes, and durably blocks further writes by other processes. Deletes the rows of
   * `clearedTables`.
   */
  readonly fence: (marker: CopyMarker, clearedTables?: readonly string[]) => Promise<void>
  readonly mark: (marker: CopyMarker) => Promise<void>
  /** `null` removes the marker. */
  readonly unfence: (marker: CopyMarker | null) => Promise<void>
  readonly references: () => Promise<readonly TableReference[]>
  readonly keyOf: (table: CopiedTable) => Promise<readonly string[]>
  readonly countRows: (table: CopiedTable) => Promise<number>
  readonly hasRows: (table: CopiedTable) => Promise<boolean>
  /** Reads rows in batches, in the order of their keys, compared by bytes. */
  readonly read: (table: CopiedTable, key: readonly string[], after: RowKey | null) => AsyncGenerator<CopiedRow[]>
  /** Inserts rows and stores the progress in the same transaction. */
  readonly insert: (table: CopiedTable, rows: readonly CopiedRow[], progress: CopyProgress) => Promise<void>
  /**
   * Prepares an empty target for inserting many rows. `beginLoad` is repeated if the copy was interrupted before the
   * first batch.
   */
  readonly beginLoad: () => Promise<void>
  /** Creates the indexes and foreign keys that `beginLoad` dropped, and updates the planner statistics. */
  readonly endLoad: (onProgress: OnProgress) => Promise<void>
  readonly close: () => Promise<void>
}

const minBatchRows = 100
const maxBatchRows = 2_000
const maxBatchCharacters = 500_000

/** Estimates how many rows fit into a batch from the size of the previous rows, so that memory use stays limited. */
export function nextBatchSize(rows: readonly CopiedRow[]): number {
  if (rows.length === 0) return minBatchRows
  let characters = 0
  for (const row of rows) for (const value of row) characters += value?.length ?? 0
  const fitting = Math.floor((maxBatchCharacters * rows.length) / Math.max(1, characters))
  return Math.max(1, Math.min(maxBatchRows, fitting, rows.length * 10))
}

/** Callers see this message, so it must not contain the name of the new database. */
export const fencedMessage =
  'The database is being moved, and stores nothing until the service runs on the new one. Retry with the same idempotency key.'
