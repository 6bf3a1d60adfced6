import { invalidInput } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { TransferKind } from '../ledger/entry.ts'
import type { Export, ExportBalance, VerifiedLine } from './export.ts'
import { verifyLines } from './export.ts'

/**
 * Writes the statement of a wallet as `camt.053.001.08` of ISO 20022.
 *
 * That has currencies of three letters only, and stablecoins have none in ISO 4217: their amounts are said in `XXX`, by which it means
 * that no currency is involved, and the type of the account names the asset. What arrived at a bank stands in its own currency
 * as the amount of the transaction, with the order's id, so that banks' statements can be held against it.
 *
 * @throws Refusal INVALID_INPUT for amounts that the format can't say: it has five decimal places and eighteen digits
 */
export async function* writeCamt053(exports: AsyncIterable<Export>): AsyncGenerator<string> {
  for await (const exported of exports) {
    yield statementHeader(exported)
    for await (const lines of verifyLines(exported)) yield lines.map(entryElement).join('')
    // The element that all of these are in ends only here, when they are proven.
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
  hasMoreThanFiveDecimals: hasFineAmounts,
}: Export): string {
  if (walletId === null || !opening || !closing) throw new Error('camt.053 is for the statement of one wallet')
  if (hasFineAmounts) throw precisionError('an amount of the period')
  const { from, to } = period
  const id = compactId(walletId)
  // Of the wallet and the numbers of its entries: whoever asks for the same again gets the same statement, to the byte.
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

/** The kinds that take back what an entry before has moved. */
const reversalKinds: readonly unknown[] = [
  'payout_failed',
  'payout_returned',
  'deposit_reversal',
] satisfies TransferKind[]

/** An entry; what came back of a payout is a reversal, and so is a deposit that was taken back. */
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
  const told = narration ?? reference
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
    typeof told === 'string' ? element('RmtInf', ...splitText(told, 3).map((part) => element('Ustrd', part))) : '',
  ]
}

/** Amounts have no sign here: the indicator says which way. */
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
  const message = `can not be camt053, which has five decimal places and eighteen digits: ${what} has more`
  return invalidInput([{ field: 'format', code: 'INVALID_PARAMETER', message }])
}

/** What ISO 4217 calls an asset: stablecoins are not among its currencies. */
function isoCurrencyOf(assetCode: string): string {
  return /^[A-Z]{3}$/.test(assetCode) ? assetCode : 'XXX'
}

/** An id without its hyphens: the format has 34 or 35 characters for one, and banks are told it so too. */
function compactId(id: string): string {
  return id.replaceAll('-', '')
}

/** A text in parts of 140 characters, which is what an element holds, at most so many. */
function splitText(text: string, most: number): string[] {
  const characters = [...text]
  const count = Math.min(most, Math.ceil(characters.length / 140))
  return Array.from({ length: count }, (_, part) => escapeXml(characters.slice(part * 140, (part + 1) * 140).join('')))
}

/** Text between tags, with what XML has no characters for replaced. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

function element(name: string, ...within: readonly string[]): string {
  return `<${name}>${within.join('')}</${name}>`
}
