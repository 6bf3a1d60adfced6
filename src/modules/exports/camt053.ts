import { invalidInput } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { TransferKind } from '../ledger/entry.ts'
import type { Export, ExportBalance, VerifiedLine } from './export.ts'
import { verifyLines } from './export.ts'

/**
 * Writes `camt.053.001.08` (ISO 20022). ISO 4217 has no codes for stablecoins, so the currency of stablecoin amounts is
 * `XXX` (no currency), and the account type contains the asset code. For reconciliation, each transaction includes the
 * payout's fiat amount and rail order id.
 *
 * @throws DomainError INVALID_INPUT for amounts that exceed the format's five decimal places or eighteen digits
 */
export async function* writeCamt053(exports: AsyncIterable<Export>): AsyncGenerator<string> {
  for await (const exported of exports) {
    yield statementHeader(exported)
    for await (const lines of verifyLines(exported)) yield lines.map(entryElement).join('')
    // If the verification fails, the closing tags are missing, so the document is invalid XML.
    yield '</Stmt></BkToCstmrStmt></Document>\n'
  }
}

const namespace = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'

function statementHeader({
  walletId,
  period,
  opening: [opening],
  closing: [closing],
  lineCount,
  hasMoreThanFiveDecimals,
}: Export): string {
  if (walletId === null || !opening || !closing) throw new Error('camt.053 is for the statement of one wallet')
  if (hasMoreThanFiveDecimals) throw precisionError('an amount of the period')
  const { from, to } = period
  const id = compactId(walletId)
  // Repeated exports must be identical, so the statement id is not random.
  const numbers = [opening, closing].map(({ sequence = 0 }) => sequence.toString(36)).join('-')
  const statementId = `${Buffer.from(id, 'hex').toString('base64url')}${numbers}`
  const { assetCode } = opening
  const isCurrency = isoCurrencyOf(assetCode) === assetCode
  return [
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${namespace}"><BkToCstmrStmt>`,
    element('GrpHdr', element('MsgId', statementId), element('CreDtTm', to)),
    '<Stmt>',
    element('Id', statementId),
    element('CreDtTm', to),
    element('FrToDt', element('FrDtTm', from ?? timestamp(0)), element('ToDtTm', to)),
    '<Acct>',
    element('Id', element('Othr', element('Id', id))),
    isCurrency ? element('Ccy', assetCode) : element('Tp', element('Prtry', escapeXml(assetCode))),
    '</Acct>',
    balanceElement('OPBD', opening, from ?? timestamp(0)),
    balanceElement('CLBD', closing, to),
    element('TxsSummry', element('TtlNtries', element('NbOfNtries', String(lineCount)))),
    '\n',
  ].join('')
}

function balanceElement(code: 'OPBD' | 'CLBD', { assetCode, balance }: ExportBalance, at: string): string {
  return element(
    'Bal',
    element('Tp', element('CdOrPrtry', element('Cd', code))),
    amountElement(balance, assetCode),
    element('CdtDbtInd', balance < 0n ? 'DBIT' : 'CRDT'),
    element('Dt', element('DtTm', at)),
  )
}

const reversalKinds: readonly unknown[] = [
  'payout_failed',
  'payout_returned',
  'deposit_reversal',
] satisfies TransferKind[]

function entryElement({ assetCode, moved, cells }: VerifiedLine): string {
  const isReversal = reversalKinds.includes(cells.kind)
  const transferId = compactId(String(cells.transfer_id))
  const date = element('DtTm', String(cells.created_at))
  return `${element(
    'Ntry',
    element('NtryRef', String(cells.sequence)),
    amountElement(moved, assetCode),
    element('CdtDbtInd', moved < 0n ? 'DBIT' : 'CRDT'),
    isReversal ? element('RvslInd', 'true') : '',
    element('Sts', element('Cd', 'BOOK')),
    element('BookgDt', date),
    element('ValDt', date),
    element('AcctSvcrRef', transferId),
    element('BkTxCd', element('Prtry', element('Cd', String(cells.kind)))),
    element('NtryDtls', element('TxDtls', ...detailElements(cells, transferId))),
  )}\n`
}

function detailElements(cells: VerifiedLine['cells'], transferId: string): string[] {
  const { reference_id: orderId, amount_fiat: fiat, recipient_currency: currency } = cells
  const { withdrawal_recipient_name: name, narration, transaction_id: transactionId, reference } = cells
  const remittance = narration ?? reference
  return [
    element(
      'Refs',
      element('AcctSvcrRef', transferId),
      element('EndToEndId', typeof orderId === 'string' ? compactId(orderId) : 'NOTPROVIDED'),
      typeof transactionId === 'string' ? element('TxId', transactionId) : '',
    ),
    typeof fiat === 'string' ? element('AmtDtls', element('TxAmt', fiatAmountElement(fiat, String(currency)))) : '',
    typeof name === 'string'
      ? element('RltdPties', element('Cdtr', element('Pty', ...splitText(name, 1).map((part) => element('Nm', part)))))
      : '',
    typeof remittance === 'string'
      ? element('RmtInf', ...splitText(remittance, 3).map((part) => element('Ustrd', part)))
      : '',
  ]
}

/** Amounts are unsigned: `CdtDbtInd` has the direction. */
function amountElement(amount: Amount, assetCode: string): string {
  return fiatAmountElement(formatAmount(amount < 0n ? -amount : amount), isoCurrencyOf(assetCode))
}

function fiatAmountElement(text: string, currency: string): string {
  const [whole = '', places = ''] = text.split('.')
  const significant = places.replace(/0+$/, '')
  if (significant.length > 5 || whole.length + significant.length > 18) {
    throw precisionError(text)
  }
  return `<Amt Ccy="${currency}">${whole}.${significant.padEnd(2, '0')}</Amt>`
}

function precisionError(what: string): Error {
  const message = `cannot be camt053, which has at most five decimal places and eighteen digits: ${what} has more`
  return invalidInput([{ field: 'format', code: 'INVALID_PARAMETER', message }])
}

function isoCurrencyOf(assetCode: string): string {
  return /^[A-Z]{3}$/.test(assetCode) ? assetCode : 'XXX'
}

/** camt.053 limits ids to 34 or 35 characters. */
function compactId(id: string): string {
  return id.replaceAll('-', '')
}

/** A text element of camt.053 has at most 140 characters. */
function splitText(text: string, maxParts: number): string[] {
  const characters = [...text]
  const count = Math.min(maxParts, Math.ceil(characters.length / 140))
  return Array.from({ length: count }, (_, part) => escapeXml(characters.slice(part * 140, (part + 1) * 140).join('')))
}

/** Also replaces characters that XML 1.0 forbids. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

function element(name: string, ...content: readonly string[]): string {
  return `<${name}>${content.join('')}</${name}>`
}
