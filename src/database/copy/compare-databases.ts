import { createHash } from 'node:crypto'
import type { CopiedTable } from './copied-tables.ts'
import { isNumeric } from './copied-tables.ts'
import type { CopiedRow, CopySide } from './copy-side.ts'

/** The digest of a table consists of the sums of its numeric columns and a SHA-256 over all values. */
type TableDigest = {
  readonly rows: number
  readonly sums: Readonly<Record<string, string>>
  readonly checksum: string
}

export type TableComparison = TableDigest & { readonly table: string; readonly difference: string | null }

type ComparedTable = {
  readonly source: CopySide
  readonly target: CopySide
  readonly table: CopiedTable
  readonly key: readonly string[]
}

/**
 * Compares a table of both databases row by row, in the order of the primary key. Stops at the first row that differs.
 */
export async function compareTable(
  { source, target, table, key }: ComparedTable,
  onCompared: (rows: number) => void,
): Promise<TableComparison> {
  const [from, to] = [tableCursor(source, table, key), tableCursor(target, table, key)]
  try {
    for (;;) {
      await Promise.all([from.fill(), to.fill()])
      const count = Math.min(from.available(), to.available())
      if (count === 0) break
      for (let i = 0; i < count; i++) {
        const difference = describeDifference(table, key, from.next(), to.next())
        if (difference !== null) return { table: table.name, ...from.digest(), difference }
      }
      onCompared(count)
    }
    const left = from.available() > 0 ? from : to
    const row = left.available() > 0 ? left.next() : null
    return { table: table.name, ...from.digest(), difference: describeRemainder({ table, key, from, to, row }) }
  } finally {
    await Promise.all([from.close(), to.close()])
  }
}

type TableCursor = ReturnType<typeof tableCursor>

function tableCursor(side: CopySide, table: CopiedTable, key: readonly string[]) {
  const batches = side.read(table, key, null)
  const hash = createHash('sha256')
  const numeric = table.columns.flatMap((column, index) => (isNumeric(column) ? [{ index, name: column.name }] : []))
  const sums = numeric.map(() => 0n)
  let batch: readonly CopiedRow[] = []
  let position = 0
  let rows = 0

  function add(added: readonly CopiedRow[]): void {
    rows += added.length
    let encoded = ''
    for (const row of added) {
      for (const value of row) encoded += value === null ? '-;' : `${value.length}:${value};`
      for (const [i, { index }] of numeric.entries()) sums[i] = (sums[i] ?? 0n) + BigInt(row[index] ?? 0)
    }
    hash.update(encoded)
  }

  return {
    available: () => batch.length - position,
    fill: async () => {
      if (position < batch.length) return
      const { value, done } = await batches.next()
      batch = done ? [] : value
      position = 0
      add(batch)
    },
    next: (): CopiedRow => batch[position++] as CopiedRow,
    digest: (): TableDigest => ({
      rows,
      sums: Object.fromEntries(numeric.map(({ name }, i) => [name, String(sums[i])])),
      checksum: hash.copy().digest('hex'),
    }),
    close: () => batches.return(undefined),
  }
}

/** The message omits the values that differ, because values may be secret. */
function describeDifference(
  { name, columns }: CopiedTable,
  key: readonly string[],
  from: CopiedRow,
  to: CopiedRow,
): string | null {
  const different = columns.findIndex((_, i) => from[i] !== to[i])
  if (different < 0) return null
  const keyOf = (row: CopiedRow) => key.map((each) => row[columns.findIndex((column) => column.name === each)])
  const [expected, actual] = [keyOf(from).join(' '), keyOf(to).join(' ')]
  if (expected === actual) return `${name} ${expected}: ${columns[different]?.name} differs`
  return `${name}: the source has ${expected} where the target has ${actual}`
}

type Remainder = {
  readonly table: CopiedTable
  readonly key: readonly string[]
  readonly from: TableCursor
  readonly to: TableCursor
  readonly row: CopiedRow | null
}

function describeRemainder({ table: { name, columns }, key, from, to, row }: Remainder): string | null {
  if (row !== null) {
    const values = key.map((each) => row[columns.findIndex((column) => column.name === each)])
    return `${name} ${values.join(' ')}: only the ${from.digest().rows > to.digest().rows ? 'source' : 'target'} has it`
  }
  const [expected, actual] = [from.digest(), to.digest()]
  const sum = Object.keys(expected.sums).find((column) => expected.sums[column] !== actual.sums[column])
  if (sum !== undefined) return `${name}: the sums of ${sum} differ`
  if (expected.rows !== actual.rows) return `${name}: the source has ${expected.rows} rows, the target ${actual.rows}`
  return expected.checksum === actual.checksum ? null : `${name}: the checksums differ`
}
