import { SaxesParser } from 'saxes'
import type { StatementLine } from './statement-line.ts'
import { unreadableStatement, validateLine } from './statement-line.ts'

/** What was read of an entry, or of one of the transactions in it. */
type CamtTransaction = {
  amount: string | null
  currency: string | null
  indicator: string | null
  id: string | null
  reference: string | null
  isReturn: boolean
}

type CamtEntry = CamtTransaction & { status: string | null; date: string | null; readonly details: CamtTransaction[] }

/** No element of a statement lies deeper. */
const maxDepth = 64

/**
 * Reads a bank's statement in camt.053 (ISO 20022), of any of its versions: what was booked, one line for each transaction of
 * an entry. The order is found by its `EndToEndId`, else by the bank's `AcctSvcrRef`. What left the account is a payment;
 * what came in with `RtrInf`, or as a reversal, is one that was returned.
 *
 * A document type is refused, so there is nothing in it that could be expanded or fetched.
 *
 * @throws Refusal INVALID_INPUT with the entry that can't be read
 */
export async function* readCamtStatement(texts: AsyncIterable<string>): AsyncGenerator<StatementLine> {
  const { parser, lines, isStatement } = createStatementParser()
  for await (const text of texts) {
    parser.write(text)
    yield* lines.splice(0)
  }
  parser.close()
  yield* lines.splice(0)
  if (!isStatement()) throw unreadableStatement('the whole file', 'must be a camt.053 statement (BkToCstmrStmt)')
}

function createStatementParser() {
  const parser = new SaxesParser()
  const lines: StatementLine[] = []
  const path: string[] = []
  let isStatement = false
  let entries = 0
  let entry: CamtEntry | null = null
  let detail: CamtTransaction | null = null
  let text = ''
  const position = () => (entries === 0 ? `line ${parser.line}` : `entry ${entries}`)
  const localName = (name: string) => name.slice(name.indexOf(':') + 1)
  /** Where it is below the entry, such as `NtryDtls/TxDtls/Amt`. */
  const pathInEntry = () => path.slice(path.indexOf('Ntry') + 1).join('/')

  parser.on('error', ({ message }) => {
    throw unreadableStatement(position(), `must be well-formed XML: ${message}`)
  })
  parser.on('doctype', () => {
    throw unreadableStatement(position(), 'must have no document type')
  })
  parser.on('opentag', ({ name, attributes }) => {
    path.push(localName(name))
    text = ''
    if (path.length > maxDepth)
      throw unreadableStatement(position(), `must not be nested deeper than ${maxDepth} elements`)
    isStatement ||= path.at(-1) === 'BkToCstmrStmt'
    if (path.at(-1) === 'Ntry' && entry === null) {
      entry = { ...emptyTransaction(), status: null, date: null, details: [] }
      entries++
    } else if (entry !== null) handleOpenTag(attributes.Ccy)
  })
  function handleOpenTag(currency: string | undefined): void {
    const where = pathInEntry()
    if (where === 'NtryDtls/TxDtls') detail = emptyTransaction()
    if (where === 'Amt' && entry) entry.currency = currency ?? null
    if (amountPaths.includes(where) && detail?.amount === null) detail.currency = currency ?? null
    if (where === 'NtryDtls/TxDtls/RtrInf' && detail) detail.isReturn = true
  }
  parser.on('text', (part) => {
    text += part
  })
  parser.on('cdata', (part) => {
    text += part
  })
  parser.on('closetag', () => {
    if (entry !== null) handleCloseTag(entry, pathInEntry(), text.trim() || null)
    path.pop()
    text = ''
  })
  function handleCloseTag(current: CamtEntry, where: string, value: string | null): void {
    if (where === '') {
      lines.push(...toStatementLines(current, position()))
      entry = null
    } else if (where === 'NtryDtls/TxDtls' && detail) {
      current.details.push(detail)
      detail = null
    } else if (value !== null) applyElementValue(current, detail, { where, value })
  }
  return { parser, lines, isStatement: () => isStatement }
}

function emptyTransaction(): CamtTransaction {
  return { amount: null, currency: null, indicator: null, id: null, reference: null, isReturn: false }
}

const transactionPath = 'NtryDtls/TxDtls'

/** Where the amount of a transaction stands, in newer versions and in older ones. */
const amountPaths = [`${transactionPath}/Amt`, `${transactionPath}/AmtDtls/TxAmt/Amt`]

function applyElementValue(
  entry: CamtEntry,
  detail: CamtTransaction | null,
  { where, value }: { where: string; value: string },
): void {
  if (where === 'Amt') entry.amount = value
  else if (where === 'CdtDbtInd') entry.indicator = value
  else if (where === 'RvslInd') entry.isReturn = value === 'true' || value === '1'
  else if (where === 'Sts' || where === 'Sts/Cd') entry.status = value
  else if (where === 'BookgDt/Dt' || where === 'BookgDt/DtTm') entry.date = value
  else if (where === 'AcctSvcrRef') entry.reference = value
  else if (detail === null) return
  else if (amountPaths.includes(where)) detail.amount ??= value
  else if (where === `${transactionPath}/CdtDbtInd`) detail.indicator = value
  else if (where === `${transactionPath}/Refs/EndToEndId`) detail.id = value === 'NOTPROVIDED' ? null : value
  else if (where === `${transactionPath}/Refs/AcctSvcrRef`) detail.reference = value
}

/** The lines of an entry; what is pending, or only told of, is in none. */
function toStatementLines(entry: CamtEntry, place: string): StatementLine[] {
  if (entry.status !== null && entry.status !== 'BOOK') return []
  if (entry.details.length === 0) return [toStatementLine(entry, entry, place)]
  const isOne = entry.details.length === 1
  return entry.details.map((detail, index) =>
    toStatementLine(
      entry,
      isOne ? withEntryDefaults(detail, entry) : detail,
      isOne ? place : `${place}, transaction ${index + 1}`,
    ),
  )
}

/** What an entry of one transaction says is of that. */
function withEntryDefaults(detail: CamtTransaction, entry: CamtEntry): CamtTransaction {
  const isWithout = detail.amount === null
  return {
    ...detail,
    reference: detail.reference ?? entry.reference,
    ...(isWithout && { amount: entry.amount, currency: entry.currency }),
  }
}

function toStatementLine(entry: CamtEntry, part: CamtTransaction, place: string): StatementLine {
  const indicator = part.indicator ?? entry.indicator
  if (indicator !== 'DBIT' && indicator !== 'CRDT') throw unreadableStatement(place, 'must have CdtDbtInd DBIT or CRDT')
  const isReturn = part.isReturn || entry.isReturn
  return validateLine({
    ...{ place, id: part.id, reference: part.reference, date: entry.date },
    amount: part.amount ?? '',
    currency: part.currency ?? '',
    state: indicator === 'DBIT' ? 'COMPLETED' : 'RETURNED',
    isIncoming: indicator === 'CRDT' && !isReturn,
  })
}
