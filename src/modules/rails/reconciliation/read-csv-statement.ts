import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { ReportState } from '../../rail-orders/rail-order.ts'
import { reportStates } from '../../rail-orders/rail-order.ts'
import type { StatementLine } from './statement-line.ts'
import { unreadableStatement, validateLine } from './statement-line.ts'

const columnNames = ['id', 'reference', 'amount', 'currency', 'state', 'date'] as const
type CsvColumn = (typeof columnNames)[number]

/** What separates values: Excel writes semicolons where the decimal mark is a comma, as in South Africa. */
const delimiters = [',', ';', '\t'] as const
type CsvDelimiter = (typeof delimiters)[number]

/** Longer than any record of a bank: a quote that is never closed ends here, and not where memory does. */
const maxRecordBytes = 64 * 1024

/**
 * Reads a statement in CSV (RFC 4180), or with semicolons or tabs in place of commas: a header with `id` or `reference`,
 * `amount` and `currency`, and if there are any `state` and `date`; other columns are passed over. Without a state a line is a
 * payment that was made. An amount may be negative, with a minus or in parentheses, as accounts show what left them.
 *
 * @throws Refusal INVALID_INPUT with the line that can't be read
 */
export async function* readCsvStatement(texts: AsyncIterable<string>): AsyncGenerator<StatementLine> {
  const { header, all } = await readHeader(texts)
  const delimiter = detectDelimiter(header)
  let columns: ReadonlyMap<CsvColumn, number> | null = null
  let width = 0
  for await (const { line, values } of readRecords(all, delimiter)) {
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

/** The first line, and the text as it was with that. */
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
  return { header: start.split('\n', 1)[0] as string, all: readWholeText() }
}

/** The delimiter that leaves names of ours in the header; a comma where none does. */
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
  const twice = columnNames.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (twice !== undefined) throw unreadableStatement('line 1', `must have the column ${twice} once`)
  const isComplete = (columns.has('id') || columns.has('reference')) && columns.has('amount') && columns.has('currency')
  if (!isComplete)
    throw unreadableStatement(
      'line 1',
      'must have the columns id or reference, amount and currency, between commas, semicolons or tabs',
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
  const found = reportStates.find((each) => each === state)
  if (!found) throw unreadableStatement(place, `must have as state one of ${reportStates.join(', ')}`)
  return found
}

/**
 * An amount without its sign, with a point before its decimal places. Thousands may be apart by spaces. Only where commas
 * don't separate values may one stand before decimal places; 1.234 or 1,234 could then be a thousand too, and is not guessed.
 */
function parseAmount(place: string, text: string, delimiter: CsvDelimiter): string {
  const unsigned = text.replace(/^(?:-(.*)|\((.*)\))$/, '$1$2')
  const [, whole, mark, places] = /^(\d+|\d{1,3}(?:[ \u00a0\u202f]\d{3})+)(?:([.,])(\d+))?$/.exec(unsigned) ?? []
  const hasCommas = delimiter !== ','
  if (whole === undefined || (mark === ',' && !hasCommas)) {
    const allowed = hasCommas ? '1500.00 or 1500,00' : '1500.00'
    throw unreadableStatement(`${place}, column amount`, `must have plain decimal amounts, such as ${allowed}`)
  }
  if (hasCommas && /^[1-9]\d{0,2}$/.test(whole) && places?.length === 3)
    throw unreadableStatement(
      `${place}, column amount`,
      'must have amounts that can be read in one way only, such as 1234.00 or 1.2340 for 1.234',
    )
  const digits = whole.replace(/\D/g, '')
  return places === undefined ? digits : `${digits}.${places}`
}

type CsvRecord = { readonly line: number; readonly values: readonly string[] }

/** What is wrong with a text, by the codes of csv-parse. */
const csvErrorMessages: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'must close every quote',
  CSV_MAX_RECORD_SIZE: 'must have shorter lines: a quote may be open',
  CSV_INVALID_CLOSING_QUOTE: 'must have nothing between a closing quote and the end of the value',
  INVALID_OPENING_QUOTE: 'must have quotes around whole values, and double those within',
}

/** The records of a text, each with the line that it begins in. */
async function* readRecords(texts: AsyncIterable<string>, delimiter: CsvDelimiter): AsyncGenerator<CsvRecord> {
  let begins = 1
  const lineNumbers: number[] = []
  const parser = parse({
    delimiter,
    record_delimiter: '\n',
    max_record_size: maxRecordBytes,
    // So that blank lines are counted, and pass.
    relax_column_count: true,
    on_record: (values, { lines }) => {
      lineNumbers.push(begins)
      begins = lines + 1
      return values
    },
  })
  // What fails in either ends both, and is thrown below.
  pipeline(Readable.from(stripCarriageReturns(texts)), parser, () => {})
  try {
    for await (const values of parser as AsyncIterable<string[]>) yield { line: lineNumbers.shift() ?? 0, values }
  } catch (error) {
    const fault = error instanceof CsvError ? csvErrorMessages[error.code] : undefined
    throw fault === undefined ? error : unreadableStatement(`line ${begins}`, fault)
  }
}

/** csv-parse counts a line break of two characters within quotes as two lines. */
async function* stripCarriageReturns(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield text.replaceAll('\r', '')
}
