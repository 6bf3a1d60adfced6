import type { OnProgress } from '../database.ts'
import type { TableComparison } from './compare-databases.ts'
import { compareTable } from './compare-databases.ts'
import type { CopiedTable } from './copied-tables.ts'
import { copiedTables, initialTables, orderByReferences } from './copied-tables.ts'
import type { CopiedRow, CopyMarker, CopySide, RowKey } from './copy-side.ts'

export type CopyOptions = {
  readonly source: string
  readonly target: string
  readonly copyId: string
  readonly now: () => string
  readonly mustBeDurable: boolean
  /** `onBegin` is called once, before a new copy blocks writes to the source. */
  readonly onBegin: () => Promise<void>
  /**
   * `inspect` is called after the rows of both databases have been compared. If `inspect` throws, the source is not
   * marked as moved.
   */
  readonly inspect: () => Promise<void>
  readonly onProgress: OnProgress
}

export type CopyResult = {
  readonly source: string
  readonly target: string
  readonly wasComplete: boolean
  readonly movedAt: string
  readonly rows: number
  readonly tables: readonly TableComparison[]
}

type CopySides = { readonly source: CopySide; readonly target: CopySide }

/**
 * Copies all rows to an empty, migrated database, or continues an interrupted copy. Writes to both databases are
 * blocked during the copy. After the copy, compares every row, marks the source as moved, and opens the target for
 * services.
 *
 * @throws Error when the target is neither empty nor an incomplete copy of this source, or the databases differ
 */
export async function copyDatabase(sides: CopySides, options: CopyOptions): Promise<CopyResult> {
  const { source, target } = sides
  const earlier = await findEarlierCopy(sides)
  const result = { source: source.name, target: target.name }
  if (earlier?.isComplete) {
    return { ...result, wasComplete: true, movedAt: earlier.marker.completedAt as string, rows: 0, tables: [] }
  }
  const marker = earlier?.marker ?? (await beginCopy(sides, options))
  const tables = orderByReferences(copiedTables, await source.references())
  const total = await countAllRows(source, tables)
  await copyRows(sides, { tables, total, onProgress: options.onProgress })
  await target.endLoad(options.onProgress)
  const compared = await compareRows(sides, { tables, total, onProgress: options.onProgress })
  await options.inspect()
  const completedAt = marker.completedAt ?? options.now()
  await requireSameCopy(source, marker)
  // The source is marked as moved before the target is opened. If the process is killed in between, both databases are
  // still blocked, and the next run completes the copy.
  await source.mark({ ...marker, role: 'source', other: target.name, completedAt })
  await target.unfence({ ...marker, role: 'target', other: source.name, completedAt })
  return { ...result, wasComplete: false, movedAt: completedAt, rows: total, tables: compared }
}

type EarlierCopy = { readonly marker: CopyMarker; readonly isComplete: boolean }

async function findEarlierCopy({ source, target }: CopySides): Promise<EarlierCopy | null> {
  const [from, to] = [await source.readMarker(), await target.readMarker()]
  if (from?.role === 'target' && from.completedAt === null) {
    throw new Error(`${source.name} is itself an incomplete copy of ${from.other}.`)
  }
  const isPair = from?.role === 'source' && to?.role === 'target' && from.copyId === to.copyId
  if (isPair) return { marker: { ...from, progress: null }, isComplete: to.completedAt !== null }
  if (from?.role === 'source' && from.completedAt !== null) {
    throw new Error(
      `${source.name} was moved to ${from.other} at ${from.completedAt}. To use it again, start the service with --anyway.`,
    )
  }
  if (to?.role === 'target' && to.completedAt === null) {
    throw new Error(
      `${target.name} is an incomplete copy of ${to.other}, made from another database or before that was used again. Give an empty database.`,
    )
  }
  for (const table of copiedTables) {
    if (initialTables.includes(table.name) || !(await target.hasRows(table))) continue
    throw new Error(`${target.name} is not empty: ${table.name} has rows. Give an empty database.`)
  }
  return null
}

/** The source is blocked before the target gets a marker, so a target with a marker always has a blocked source. */
async function beginCopy({ source, target }: CopySides, { copyId, now, onBegin }: CopyOptions): Promise<CopyMarker> {
  if ((await source.readMarker())?.role !== 'source') await onBegin()
  const marker: CopyMarker = {
    ...{ copyId, role: 'source', other: target.name, startedAt: now(), completedAt: null, progress: null },
  }
  await source.fence(marker)
  await target.fence({ ...marker, role: 'target', other: source.name }, initialTables)
  return marker
}

/** @throws Error when the copy was released, or another copy began */
async function requireSameCopy(source: CopySide, { copyId }: CopyMarker): Promise<void> {
  if ((await source.readMarker())?.copyId === copyId) return
  throw new Error(`${source.name} is no longer blocked for this copy, so it has not moved. Give an empty database.`)
}

async function countAllRows(side: CopySide, tables: readonly CopiedTable[]): Promise<number> {
  let total = 0
  for (const table of tables) total += await side.countRows(table)
  return total
}

type TablesTask = {
  readonly tables: readonly CopiedTable[]
  readonly total: number
  readonly onProgress: OnProgress
}

async function copyRows({ source, target }: CopySides, { tables, total, onProgress }: TablesTask): Promise<void> {
  const progress = (await target.readMarker())?.progress ?? null
  if (progress === null) await target.beginLoad()
  const startedAt = tables.findIndex(({ name }) => name === progress?.table)
  let done = await countAllRows(target, tables.slice(0, startedAt + 1))
  for (const [i, table] of tables.entries()) {
    if (i < startedAt) continue
    const key = await requireKey(source, table)
    const keyColumns = key.map((each) => table.columns.findIndex(({ name }) => name === each))
    let stored = Promise.resolve()
    for await (const rows of source.read(table, key, i === startedAt ? (progress?.key ?? null) : null)) {
      await stored
      const lastKey = keyColumns.map((column) => rows.at(-1)?.[column] ?? '')
      // The target stores a batch while the source reads the next batch.
      stored = insertBatch(target, table, { rows, lastKey }).then(() => {
        done += rows.length
        onProgress(`rows, ${table.name}`, done, total)
      })
      // If the insert fails, the next `await stored` throws the error.
      stored.catch(() => {})
    }
    await stored
  }
}

type Batch = { readonly rows: readonly CopiedRow[]; readonly lastKey: RowKey }

async function insertBatch(target: CopySide, table: CopiedTable, { rows, lastKey }: Batch): Promise<void> {
  try {
    await target.insert(table, rows, { table: table.name, key: lastKey })
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${table.name}: rows up to ${lastKey.join(' ')} can't be stored: ${message}`, { cause: error })
  }
}

async function requireKey(side: CopySide, table: CopiedTable): Promise<readonly string[]> {
  const key = await side.keyOf(table)
  if (key.length === 0) throw new Error(`${table.name} has no primary key`)
  return key
}

async function compareRows(
  { source, target }: CopySides,
  { tables, total, onProgress }: TablesTask,
): Promise<readonly TableComparison[]> {
  const comparisons: TableComparison[] = []
  let done = 0
  for (const table of tables) {
    const key = await requireKey(source, table)
    comparisons.push(
      await compareTable({ source, target, table, key }, (count) => {
        done += count
        // If the target has more rows than the source, the progress must not exceed the total.
        onProgress(`rows compared, ${table.name}`, Math.min(done, total), total)
      }),
    )
  }
  const differences = comparisons.flatMap(({ difference }) => difference ?? [])
  if (differences.length > 0) throw new Error(`The copy differs from the source: ${differences.join('; ')}.`)
  return comparisons
}
