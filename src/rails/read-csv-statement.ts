import type { ReportState } from '../payout-transfers/transfer.ts'
import { reportStates } from '../payout-transfers/transfer.ts'
import type { StatementLine } from './statement.ts'
import { checkedLine, unreadable } from './statement.ts'

const known = ['id', 'reference', 'amount', 'currency', 'state', 'date'] as const
type Column = (typeof known)[number]

/** Longer than any record of a bank: a quote that is never closed ends here, and not where memory does. */
const longestRecord = 64 * 1024

/**
 * Reads a statement in CSV (RFC 4180): a header with `id` or `reference`, `amount` and `currency`, and if there are any `state`
 * and `date`; other columns are passed over. Without a state a line is a payment that was made. An amount may have a minus,
 * as accounts show what left them.
 *
 * @throws Refusal INVALID_INPUT with the line that can't be read
 */
export async function* readCsvStatement(texts: AsyncIterable<string>): AsyncGenerator<StatementLine> {
  let columns: ReadonlyMap<Column, number> | null = null
  for await (const { line, values } of recordsIn(texts)) {
    if (columns === null) columns = columnsOf(values)
    else if (values.length > 1 || values[0] !== '') yield lineOf(`line ${line}`, columns, values)
  }
  if (columns === null) throw unreadable('line 1', 'must have a header')
}

function columnsOf(header: readonly string[]): ReadonlyMap<Column, number> {
  const names = header.map((name) => name.trim().toLowerCase())
  const columns = new Map(known.flatMap((name) => (names.includes(name) ? [[name, names.indexOf(name)]] : [])))
  const twice = known.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (twice !== undefined) throw unreadable('line 1', `must have the column ${twice} once`)
  const isComplete = (columns.has('id') || columns.has('reference')) && columns.has('amount') && columns.has('currency')
  if (!isComplete) throw unreadable('line 1', 'must have the columns id or reference, amount and currency')
  return columns
}

function lineOf(place: string, columns: ReadonlyMap<Column, number>, values: readonly string[]): StatementLine {
  const cell = (column: Column) => values[columns.get(column) ?? -1]?.trim() || null
  return checkedLine({
    place,
    id: cell('id'),
    reference: cell('reference'),
    amount: (cell('amount') ?? '').replace(/^-/, ''),
    currency: (cell('currency') ?? '').toUpperCase(),
    state: stateOf(place, cell('state')),
    date: cell('date'),
    isIncoming: false,
  })
}

function stateOf(place: string, text: string | null): ReportState {
  const state = text?.toUpperCase() ?? 'COMPLETED'
  const found = reportStates.find((each) => each === state)
  if (!found) throw unreadable(place, `must have as state one of ${reportStates.join(', ')}`)
  return found
}

type CsvRecord = { readonly line: number; readonly values: readonly string[] }

/** The records of a text, each with the line that it begins in. */
async function* recordsIn(texts: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  let [line, began, length] = [1, 1, 0]
  let values: string[] = []
  let value = ''
  // `closed` is behind a quote that ends a value, or is the first of two that stand for one.
  let where: 'plain' | 'quoted' | 'closed' = 'plain'
  const endValue = () => {
    values.push(value)
    value = ''
    where = 'plain'
  }
  const endRecord = (): CsvRecord => {
    endValue()
    const record = { line: began, values }
    values = []
    began = line
    length = 0
    return record
  }
  for await (const text of texts) {
    for (const character of text) {
      if (character === '\n') line++
      if (++length > longestRecord) throw unreadable(`line ${began}`, 'must have shorter lines: a quote may be open')
      if (where === 'quoted') {
        if (character === '"') where = 'closed'
        else value += character
      } else if (character === ',') endValue()
      else if (character === '\n') yield endRecord()
      else if (character === '"' && (where === 'closed' || value === '')) {
        if (where === 'closed') value += character
        where = 'quoted'
      } else if (character !== '\r') {
        if (where === 'closed')
          throw unreadable(`line ${line}`, 'must have nothing between a closing quote and a comma')
        value += character
      }
    }
  }
  if (where === 'quoted') throw unreadable(`line ${began}`, 'must close every quote')
  if (value !== '' || values.length > 0) yield endRecord()
}
