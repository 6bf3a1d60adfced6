import { formatAmount } from '../../core/money/amount.ts'
import { camt053 } from './camt053.ts'
import { csvLine } from './csv.ts'
import type { Cell, Cells, Export, ExportKind } from './export.ts'
import type { Layout } from './records.ts'
import { layouts, recordsOf } from './records.ts'

/** How an export is written. */
export const exportFormats = ['csv', 'ndjson', 'camt053'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** What each is called on the web and on disk. */
export const mediaTypes: Readonly<Record<ExportFormat, { readonly type: string; readonly extension: string }>> = {
  csv: { type: 'text/csv; charset=utf-8; header=present', extension: 'csv' },
  ndjson: { type: 'application/x-ndjson', extension: 'ndjson' },
  camt053: { type: 'application/xml; charset=utf-8', extension: 'xml' },
}

/**
 * Writes exports of one kind, page by page: nothing of a page is written before it was asked for.
 *
 * @throws Error where they do not add up, in the place of an end
 */
export async function* written(
  format: ExportFormat,
  kind: ExportKind,
  exports: AsyncIterable<Export>,
): AsyncGenerator<string> {
  yield* writers[format](layouts[kind], exports)
}

type Write = (columns: readonly string[], record: Cells) => string

const writers: Record<ExportFormat, (layout: Layout, exports: AsyncIterable<Export>) => AsyncGenerator<string>> = {
  csv: async function* (layout, exports) {
    yield csvLine(layout.columns)
    yield* inColumns(layout, exports, csvRecord)
  },
  ndjson: (layout, exports) => inColumns(layout, exports, ndjsonRecord),
  camt053: (_, exports) => camt053(exports),
}

async function* inColumns(layout: Layout, exports: AsyncIterable<Export>, write: Write): AsyncGenerator<string> {
  for await (const records of recordsOf(layout, exports)) {
    let text = ''
    for (const record of records) text += write(layout.columns, record)
    if (text !== '') yield text
  }
}

function csvRecord(columns: readonly string[], record: Cells): string {
  return csvLine(columns.map((column) => record[column] ?? null))
}

/** The columns that the record has, in their order: exactly what there is, as REST would tell it. */
function ndjsonRecord(columns: readonly string[], record: Cells): string {
  const there = columns.filter((column) => record[column] !== undefined)
  const members = there.map((column) => `${JSON.stringify(column)}:${json(record[column] as Cell)}`)
  return `{${members.join(',')}}\n`
}

function json(cell: Cell): string {
  return JSON.stringify(typeof cell === 'bigint' ? formatAmount(cell) : cell)
}
