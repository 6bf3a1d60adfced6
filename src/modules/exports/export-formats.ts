import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import { writeCamt053 } from './camt053.ts'
import type { Export, ExportCell, ExportKind, ExportRecord } from './export.ts'
import type { RecordLayout } from './records.ts'
import { recordLayouts, recordsOfExports } from './records.ts'

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
export async function* writeExport(
  format: ExportFormat,
  kind: ExportKind,
  exports: AsyncIterable<Export>,
): AsyncGenerator<string> {
  yield* writers[format](recordLayouts[kind], exports)
}

type FormatRecord = (columns: readonly string[], record: ExportRecord) => string

const writers: Record<ExportFormat, (layout: RecordLayout, exports: AsyncIterable<Export>) => AsyncGenerator<string>> =
  {
    csv: async function* (layout, exports) {
      yield csvLine(layout.columns)
      yield* writeRecords(layout, exports, formatCsvRecord)
    },
    ndjson: (layout, exports) => writeRecords(layout, exports, formatNdjsonRecord),
    camt053: (_, exports) => writeCamt053(exports),
  }

async function* writeRecords(
  layout: RecordLayout,
  exports: AsyncIterable<Export>,
  write: FormatRecord,
): AsyncGenerator<string> {
  for await (const records of recordsOfExports(layout, exports)) {
    let text = ''
    for (const record of records) text += write(layout.columns, record)
    if (text !== '') yield text
  }
}

function formatCsvRecord(columns: readonly string[], record: ExportRecord): string {
  return csvLine(columns.map((column) => record[column] ?? null))
}

/** The columns that the record has, in their order: exactly what there is, as REST would tell it. */
function formatNdjsonRecord(columns: readonly string[], record: ExportRecord): string {
  const there = columns.filter((column) => record[column] !== undefined)
  const members = there.map((column) => `${JSON.stringify(column)}:${formatJsonCell(record[column] as ExportCell)}`)
  return `{${members.join(',')}}\n`
}

function formatJsonCell(cell: ExportCell): string {
  return JSON.stringify(typeof cell === 'bigint' ? formatAmount(cell) : cell)
}

/**
 * Text that a spreadsheet takes for a formula: it begins with one of these characters, as they are on keyboards or in full width,
 * whatever quotes and characters that draw nothing come first; or it begins with a tab or a line break, which some pass over. An apostrophe
 * before these may be one of ours, so there is another then.
 *
 * Unicode's properties say what draws nothing (marks, separators, controls, default-ignorable code points), so that no list has to
 * follow its versions. Only the Braille blank and the null notehead are blank symbols by their glyph alone.
 */
const formulaPattern =
  /^['"\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{Z}\p{C}\u2800\u{1d159}]*[=+\-@＝＋－＠]|^'*[\t\r\n]/u

/**
 * A cell of RFC 4180. What would be taken for a formula has an apostrophe before it, by which spreadsheets know text; so whoever
 * wants the text itself takes one apostrophe away where what follows would be taken for a formula. Amounts are made here, are
 * numbers and stay as they are.
 */
export function csvCell(cell: ExportCell): string {
  if (cell === null) return ''
  if (typeof cell === 'bigint') return formatAmount(cell satisfies Amount)
  if (typeof cell === 'number') return String(cell)
  const text = formulaPattern.test(cell) ? `'${cell}` : cell
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line of cells, which ends as RFC 4180 has it. */
export function csvLine(cells: readonly ExportCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}
