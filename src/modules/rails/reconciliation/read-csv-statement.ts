import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { ReportState } from '../../rail-orders/rail-order.ts'
import { reportStates } from '../../rail-orders/rail-order.ts'
import type { StatementLine } from './statement-line.ts'
import { unreadableStatement, validateLine } from './statement-line.ts'

const columnNames = ['id', 'reference', 'amount', 'currency', 'state', 'date'] as const
type CsvColumn = (typeof columnNames)[number]

/** Excel writes semicolons in locales with a decimal comma, for example in South Africa. */
const delimiters = [',', ';', '\t'] as const
type CsvDelimiter = (typeof delimiters)[number]

/** Limits the memory that an unclosed quote can use. */
const maxRecordBytes = 64 * 1024

/**
 * Reads CSV (RFC 4180) that is delimited by commas, semicolons or tabs. The header must have `amount`, `currency` and
 * at least one of `id` and `reference`; `state` and `date` are optional. A statement line without a state is a
 * completed payment. An amount may be negative, with a minus sign or in parentheses.
 *
 * @throws DomainError INVALID_INPUT with the line that cannot be parsed
 */
export async function* readCsvStatement(texts: AsyncIterable<string>): AsyncGenerator<StatementLine> {
  const { header, text } = await readHeader(texts)
  const delimiter = detectDelimiter(header)
  let columns: ReadonlyMap<CsvColumn, number> | null = null
  let width = 0
  for await (const { line, values } of readRecords(text, delimiter)) {
    const place = `line ${line}`
    if (columns === null) {
      columns = indexColumns(values)
      width = values.length
    } else if (values.length > 1 || values[0] !== '') {
      if (values.length !== width)
        throw unreadableStatement(place, `must have ${width} values in each line, as in the header`)
      yield parseStatementLine(place, columns, values, delimiter)
    }
  }
  if (columns === null) throw unreadableStatement('line 1', 'must have a header')
}

async function readHeader(texts: AsyncIterable<string>) {
  const rest = texts[Symbol.asyncIterator]()
  let start = ''
  while (!start.includes('\n') && start.length < maxRecordBytes) {
    const next = await rest.next()
    if (next.done) break
    start += next.value
  }
  start = start.replace(/^\ufeff/, '')
  async function* readWholeText() {
    yield start
    yield* { [Symbol.asyncIterator]: () => rest }
  }
  return { header: start.split('\n', 1)[0] as string, text: readWholeText() }
}

function detectDelimiter(header: string): CsvDelimiter {
  const hasRequiredColumns = (delimiter: CsvDelimiter) => {
    const names = header.split(delimiter).map((name) => name.replaceAll('"', '').trim().toLowerCase())
    return names.includes('amount') && names.includes('currency')
  }
  return delimiters.find(hasRequiredColumns) ?? ','
}

function indexColumns(header: readonly string[]): ReadonlyMap<CsvColumn, number> {
  const names = header.map((name) => name.trim().toLowerCase())
  const columns = new Map(columnNames.flatMap((name) => (names.includes(name) ? [[name, names.indexOf(name)]] : [])))
  const duplicate = columnNames.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (duplicate !== undefined) throw unreadableStatement('line 1', `must have the column ${duplicate} once`)
  const isComplete = (columns.has('id') || columns.has('reference')) && columns.has('amount') && columns.has('currency')
  if (!isComplete)
    throw unreadableStatement(
      'line 1',
      'must have the columns id or reference, amount and currency, separated by commas, semicolons or tabs',
    )
  return columns
}

function parseStatementLine(
  place: string,
  columns: ReadonlyMap<CsvColumn, number>,
  values: readonly string[],
  delimiter: CsvDelimiter,
): StatementLine {
  const cell = (column: CsvColumn) => values[columns.get(column) ?? -1]?.trim() || null
  return validateLine({
    place,
    id: cell('id'),
    reference: cell('reference'),
    amount: parseAmount(place, cell('amount') ?? '', delimiter),
    currency: (cell('currency') ?? '').toUpperCase(),
    state: parseState(place, cell('state')),
    date: cell('date'),
    isIncoming: false,
  })
}

function parseState(place: string, text: string | null): ReportState {
  const state = text?.toUpperCase() ?? 'COMPLETED'
  const reportState = reportStates.find((each) => each === state)
  if (!reportState) throw unreadableStatement(place, `must have one of the states ${reportStates.join(', ')}`)
  return reportState
}

/**
 * Returns the amount as a plain decimal without its sign. Spaces may group thousands. A decimal comma is allowed unless
 * commas delimit the CSV values. If a decimal comma is allowed, 1.234 and 1,234 are ambiguous and rejected.
 */
function parseAmount(place: string, text: string, delimiter: CsvDelimiter): string {
  const unsigned = text.replace(/^(?:-(.*)|\((.*)\))$/, '$1$2')
  const [, whole, mark, places] = /^(\d+|\d{1,3}(?:[ \u00a0\u202f]\d{3})+)(?:([.,])(\d+))?$/.exec(unsigned) ?? []
  const allowsDecimalComma = delimiter !== ','
  if (whole === undefined || (mark === ',' && !allowsDecimalComma)) {
    const allowed = allowsDecimalComma ? '1500.00 or 1500,00' : '1500.00'
    throw unreadableStatement(`${place}, column amount`, `must have plain decimal amounts, such as ${allowed}`)
  }
  if (allowsDecimalComma && /^[1-9]\d{0,2}$/.test(whole) && places?.length === 3)
    throw unreadableStatement(
      `${place}, column amount`,
      'must have unambiguous amounts, such as 1234.00 or 1.2340 instead of 1.234',
    )
  const digits = whole.replace(/\D/g, '')
  return places === undefined ? digits : `${digits}.${places}`
}

type CsvRecord = { readonly line: number; readonly values: readonly string[] }

const csvErrorMessages: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'must close every quote',
  CSV_MAX_RECORD_SIZE: 'must have shorter lines: a quote may be open',
  CSV_INVALID_CLOSING_QUOTE: 'must have nothing between a closing quote and the end of the value',
  INVALID_OPENING_QUOTE: 'must have quotes around whole values, and double those within',
}

async function* readRecords(texts: AsyncIterable<string>, delimiter: CsvDelimiter): AsyncGenerator<CsvRecord> {
  let startLine = 1
  const lineNumbers: number[] = []
  const parser = parse({
    delimiter,
    record_delimiter: '\n',
    max_record_size: maxRecordBytes,
    // The CSV parser keeps blank lines, so that line numbers count them.
    relax_column_count: true,
    on_record: (values, { lines }) => {
      lineNumbers.push(startLine)
      startLine = lines + 1
      return values
    },
  })
  // After an error, `pipeline` destroys both streams, and the loop over `parser` throws the error.
  pipeline(Readable.from(stripCarriageReturns(texts)), parser, () => {})
  try {
    for await (const values of parser as AsyncIterable<string[]>) yield { line: lineNumbers.shift() ?? 0, values }
  } catch (error) {
    const message = error instanceof CsvError ? csvErrorMessages[error.code] : undefined
    throw message === undefined ? error : unreadableStatement(`line ${startLine}`, message)
  }
}

/** csv-parse counts CRLF inside quotes as two lines. */
async function* stripCarriageReturns(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield text.replaceAll('\r', '')
}
