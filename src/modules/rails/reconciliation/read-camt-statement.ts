import { SaxesParser } from 'saxes'
import type { StatementLine } from './statement-line.ts'
import { unreadableStatement, validateLine } from './statement-line.ts'

type CamtTransaction = {
  amount: string | null
  currency: string | null
  indicator: string | null
  id: string | null
  reference: string | null
  isReturn: boolean
}

type CamtEntry = CamtTransaction & { status: string | null; date: string | null; readonly details: CamtTransaction[] }

/** No valid camt.053 statement nests XML elements 64 deep. */
const maxDepth = 64

/**
 * Reads camt.053 (ISO 20022) of any version and yields a line for each transaction of a booked entry. The order id is
 * `EndToEndId`, or the bank's `AcctSvcrRef` if `EndToEndId` is missing. A debit is a payment. A credit with `RtrInf` is
 * a returned payment. A reversal is also a returned payment.
 *
 * Rejects document type declarations, to prevent entity expansion and external entities (XXE).
 *
 * @throws DomainError INVALID_INPUT with the entry that cannot be parsed
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
  /** For example `NtryDtls/TxDtls/Amt`. */
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
    const elementPath = pathInEntry()
    if (elementPath === 'NtryDtls/TxDtls') detail = emptyTransaction()
    if (elementPath === 'Amt' && entry) entry.currency = currency ?? null
    if (amountPaths.includes(elementPath) && detail?.amount === null) detail.currency = currency ?? null
    if (elementPath === 'NtryDtls/TxDtls/RtrInf' && detail) detail.isReturn = true
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
  function handleCloseTag(current: CamtEntry, elementPath: string, value: string | null): void {
    if (elementPath === '') {
      lines.push(...toStatementLines(current, position()))
      entry = null
    } else if (elementPath === 'NtryDtls/TxDtls' && detail) {
      current.details.push(detail)
      detail = null
    } else if (value !== null) applyElementValue(current, detail, { elementPath, value })
  }
  return { parser, lines, isStatement: () => isStatement }
}

function emptyTransaction(): CamtTransaction {
  return { amount: null, currency: null, indicator: null, id: null, reference: null, isReturn: false }
}

const transactionPath = 'NtryDtls/TxDtls'

/** The paths in newer and in older versions of camt.053. */
const amountPaths = [`${transactionPath}/Amt`, `${transactionPath}/AmtDtls/TxAmt/Amt`]

function applyElementValue(
  entry: CamtEntry,
  detail: CamtTransaction | null,
  { elementPath, value }: { elementPath: string; value: string },
): void {
  if (elementPath === 'Amt') entry.amount = value
  else if (elementPath === 'CdtDbtInd') entry.indicator = value
  else if (elementPath === 'RvslInd') entry.isReturn = value === 'true' || value === '1'
  else if (elementPath === 'Sts' || elementPath === 'Sts/Cd') entry.status = value
  else if (elementPath === 'BookgDt/Dt' || elementPath === 'BookgDt/DtTm') entry.date = value
  else if (elementPath === 'AcctSvcrRef') entry.reference = value
  else if (detail === null) return
  else if (amountPaths.includes(elementPath)) detail.amount ??= value
  else if (elementPath === `${transactionPath}/CdtDbtInd`) detail.indicator = value
  else if (elementPath === `${transactionPath}/Refs/EndToEndId`) detail.id = value === 'NOTPROVIDED' ? null : value
  else if (elementPath === `${transactionPath}/Refs/AcctSvcrRef`) detail.reference = value
}

/** Skips pending and informational entries. */
function toStatementLines(entry: CamtEntry, place: string): StatementLine[] {
  if (entry.status !== null && entry.status !== 'BOOK') return []
  if (entry.details.length === 0) return [toStatementLine(entry, entry, place)]
  const isSingle = entry.details.length === 1
  return entry.details.map((detail, index) =>
    toStatementLine(
      entry,
      isSingle ? withEntryDefaults(detail, entry) : detail,
      isSingle ? place : `${place}, transaction ${index + 1}`,
    ),
  )
}

/** If an entry has only one transaction, the entry's values replace the transaction's missing values. */
function withEntryDefaults(detail: CamtTransaction, entry: CamtEntry): CamtTransaction {
  const hasNoAmount = detail.amount === null
  return {
    ...detail,
    reference: detail.reference ?? entry.reference,
    ...(hasNoAmount && { amount: entry.amount, currency: entry.currency }),
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
