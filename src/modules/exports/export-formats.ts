import { z } from 'zod'
import { parseInput } from '../../core/input.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { Context } from '../../operations/context.ts'
import { writeCamt053 } from './camt053.ts'
import type { Export, ExportCell, ExportKind, ExportRecord } from './export.ts'
import { exportDeposits, exportFees } from './journals.ts'
import { exportPayouts } from './payouts-export.ts'
import { PeriodInput } from './period.ts'
import type { RecordLayout } from './records.ts'
import { recordLayouts, recordsOfExports } from './records.ts'
import { exportStatement, StatementInput } from './wallet-statement.ts'

export const exportFormats = ['csv', 'ndjson', 'camt053'] as const
export type ExportFormat = (typeof exportFormats)[number]

export const mediaTypes: Readonly<Record<ExportFormat, { readonly type: string; readonly extension: string }>> = {
  csv: { type: 'text/csv; charset=utf-8; header=present', extension: 'csv' },
  ndjson: { type: 'application/x-ndjson', extension: 'ndjson' },
  camt053: { type: 'application/xml; charset=utf-8', extension: 'xml' },
}

/** @throws Error before the end if the lines of an export do not match its balances */
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

/** Omits absent columns. Values have the same format as in REST. */
function formatNdjsonRecord(columns: readonly string[], record: ExportRecord): string {
  const present = columns.filter((column) => record[column] !== undefined)
  const members = present.map((column) => `${JSON.stringify(column)}:${formatJsonCell(record[column] as ExportCell)}`)
  return `{${members.join(',')}}\n`
}

function formatJsonCell(cell: ExportCell): string {
  return JSON.stringify(typeof cell === 'bigint' ? formatAmount(cell) : cell)
}

/**
 * Matches text that a spreadsheet may run as a formula (CSV injection). A formula begins with `=`, `+`, `-` or `@`
 * (ASCII or full width), with a tab, or with a line break. Quotes and invisible characters may precede the first
 * character of the formula. The pattern also allows leading apostrophes, so that the escape can be undone.
 *
 * The Unicode properties do not include the Braille blank and the null notehead, so the pattern lists these two
 * invisible characters.
 */
const formulaPattern =
  /^['"\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{Z}\p{C}\u2800\u{1d159}]*[=+\-@＝＋－＠]|^'*[\t\r\n]/u

/**
 * Formats a CSV cell (RFC 4180). A leading apostrophe makes spreadsheets show a formula as text. To undo this escape,
 * remove one leading apostrophe if the remaining text matches `formulaPattern`. Amounts and numbers need no escape.
 */
export function csvCell(cell: ExportCell): string {
  if (cell === null) return ''
  if (typeof cell === 'bigint') return formatAmount(cell satisfies Amount)
  if (typeof cell === 'number') return String(cell)
  const text = formulaPattern.test(cell) ? `'${cell}` : cell
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function csvLine(cells: readonly ExportCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** `type` is the media type. The export runs while the caller reads `chunks`. */
export type ExportFile = { readonly type: string; readonly name: string; readonly chunks: AsyncIterable<string> }

const recordFormatField = { format: z.enum(['csv', 'ndjson']).default('csv') }

export const StatementFileInput = z.object({ ...StatementInput.shape, format: z.enum(exportFormats).default('csv') })
export const JournalFileInput = z.object({ ...PeriodInput.shape, ...recordFormatField })

/** @throws DomainError INVALID_INPUT, RESOURCE_NOT_FOUND (wallet) */
export async function statementFile(context: Context, input: z.input<typeof StatementFileInput>): Promise<ExportFile> {
  const { format } = parseInput(StatementFileInput, input)
  return createExportFile(format, await exportStatement(context, input))
}

export const payoutsFile = createJournalFile(exportPayouts)

export const feesFile = createJournalFile(exportFees)

export const depositsFile = createJournalFile(exportDeposits)

function createJournalFile(exportJournal: (context: Context, input: z.input<typeof PeriodInput>) => Promise<Export>) {
  return async (context: Context, input: z.input<typeof JournalFileInput>): Promise<ExportFile> => {
    const { format } = parseInput(JournalFileInput, input)
    return createExportFile(format, await exportJournal(context, input))
  }
}

function createExportFile(format: ExportFormat, exported: Export): ExportFile {
  const { kind, period } = exported
  const days = [period.from, period.to].map((moment) => moment?.slice(0, 10) ?? 'beginning').join('-to-')
  const { type, extension } = mediaTypes[format]
  return { type, name: `${kind}-${days}.${extension}`, chunks: writeExport(format, kind, singleExport(exported)) }
}

async function* singleExport(exported: Export): AsyncGenerator<Export> {
  yield exported
}
