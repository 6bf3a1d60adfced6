import { invalidInput } from '../../core/errors.ts'
import { timestamp } from '../../core/ids.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { TransferKind } from '../ledger/entry.ts'
import type { Balance, Export } from './export.ts'
import type { ProvenLine } from './verified-lines.ts'
import { proven } from './verified-lines.ts'

/**
 * Writes the statement of a wallet as `camt.053.001.08` of ISO 20022.
 *
 * That has currencies of three letters only, and stablecoins have none in ISO 4217: their amounts are said in `XXX`, by which it means
 * that no currency is involved, and the type of the account names the asset. What arrived at a bank stands in its own currency
 * as the amount of the transaction, with the order's id, so that banks' statements can be held against it.
 *
 * @throws Refusal INVALID_INPUT for amounts that the format can't say: it has five decimal places and eighteen digits
 */
export async function* camt053(exports: AsyncIterable<Export>): AsyncGenerator<string> {
  for await (const exported of exports) {
    yield headOf(exported)
    for await (const lines of proven(exported)) yield lines.map(entryOf).join('')
    // The element that all of these are in ends only here, when they are proven.
    yield '</Stmt></BkToCstmrStmt></Document>\n'
  }
}

const namespace = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'

function headOf({
  walletId,
  period,
  opening: [opening],
  closing: [closing],
  lineCount,
  hasFineAmounts,
}: Export): string {
  if (walletId === null || !opening || !closing) throw new Error('camt.053 is for the statement of one wallet')
  if (hasFineAmounts) throw tooFine('an amount of the period')
  const { from, to } = period
  const id = hexOf(walletId)
  // Of the wallet and the numbers of its entries: whoever asks for the same again gets the same statement, to the byte.
  const numbers = [opening, closing].map(({ sequence = 0 }) => sequence.toString(36)).join('-')
  const statementId = `${Buffer.from(id, 'hex').toString('base64url')}${numbers}`
  const { assetCode } = opening
  const isCurrency = currencyOf(assetCode) === assetCode
  return [
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${namespace}"><BkToCstmrStmt>`,
    tag('GrpHdr', tag('MsgId', statementId), tag('CreDtTm', to)),
    '<Stmt>',
    tag('Id', statementId),
    tag('CreDtTm', to),
    tag('FrToDt', tag('FrDtTm', from ?? timestamp(0)), tag('ToDtTm', to)),
    '<Acct>',
    tag('Id', tag('Othr', tag('Id', id))),
    isCurrency ? tag('Ccy', assetCode) : tag('Tp', tag('Prtry', escaped(assetCode))),
    '</Acct>',
    balanceOf('OPBD', opening, from ?? timestamp(0)),
    balanceOf('CLBD', closing, to),
    tag('TxsSummry', tag('TtlNtries', tag('NbOfNtries', String(lineCount)))),
    '\n',
  ].join('')
}

function balanceOf(code: 'OPBD' | 'CLBD', { assetCode, balance }: Balance, at: string): string {
  return tag(
    'Bal',
    tag('Tp', tag('CdOrPrtry', tag('Cd', code))),
    amountOf(balance, assetCode),
    tag('CdtDbtInd', balance < 0n ? 'DBIT' : 'CRDT'),
    tag('Dt', tag('DtTm', at)),
  )
}

/** The kinds that take back what an entry before has moved. */
const reversals: readonly unknown[] = ['payout_failed', 'payout_returned', 'deposit_reversal'] satisfies TransferKind[]

/** An entry; what came back of a payout is a reversal, and so is a deposit that was taken back. */
function entryOf({ assetCode, moved, cells }: ProvenLine): string {
  const isReversal = reversals.includes(cells.kind)
  const transferId = hexOf(String(cells.transfer_id))
  const date = tag('DtTm', String(cells.created_at))
  return `${tag(
    'Ntry',
    tag('NtryRef', String(cells.sequence)),
    amountOf(moved, assetCode),
    tag('CdtDbtInd', moved < 0n ? 'DBIT' : 'CRDT'),
    isReversal ? tag('RvslInd', 'true') : '',
    tag('Sts', tag('Cd', 'BOOK')),
    tag('BookgDt', date),
    tag('ValDt', date),
    tag('AcctSvcrRef', transferId),
    tag('BkTxCd', tag('Prtry', tag('Cd', String(cells.kind)))),
    tag('NtryDtls', tag('TxDtls', ...detailsOf(cells, transferId))),
  )}\n`
}

function detailsOf(cells: ProvenLine['cells'], transferId: string): string[] {
  const { reference_id: orderId, amount_fiat: fiat, recipient_currency: currency } = cells
  const { withdrawal_recipient_name: name, narration, transaction_id: transactionId, reference } = cells
  const told = narration ?? reference
  return [
    tag(
      'Refs',
      tag('AcctSvcrRef', transferId),
      tag('EndToEndId', typeof orderId === 'string' ? hexOf(orderId) : 'NOTPROVIDED'),
      typeof transactionId === 'string' ? tag('TxId', transactionId) : '',
    ),
    typeof fiat === 'string' ? tag('AmtDtls', tag('TxAmt', fiatOf(fiat, String(currency)))) : '',
    typeof name === 'string'
      ? tag('RltdPties', tag('Cdtr', tag('Pty', ...partsOf(name, 1).map((part) => tag('Nm', part)))))
      : '',
    typeof told === 'string' ? tag('RmtInf', ...partsOf(told, 3).map((part) => tag('Ustrd', part))) : '',
  ]
}

/** Amounts have no sign here: the indicator says which way. */
function amountOf(amount: Amount, assetCode: string): string {
  return fiatOf(formatAmount(amount < 0n ? -amount : amount), currencyOf(assetCode))
}

function fiatOf(text: string, currency: string): string {
  const [whole = '', places = ''] = text.split('.')
  const significant = places.replace(/0+$/, '')
  if (significant.length > 5 || whole.length + significant.length > 18) {
    throw tooFine(text)
  }
  return `<Amt Ccy="${currency}">${whole}.${significant.padEnd(2, '0')}</Amt>`
}

function tooFine(what: string): Error {
  const message = `can not be camt053, which has five decimal places and eighteen digits: ${what} has more`
  return invalidInput([{ field: 'format', code: 'INVALID_PARAMETER', message }])
}

/** What ISO 4217 calls an asset: stablecoins are not among its currencies. */
function currencyOf(assetCode: string): string {
  return /^[A-Z]{3}$/.test(assetCode) ? assetCode : 'XXX'
}

/** An id without its hyphens: the format has 34 or 35 characters for one, and banks are told it so too. */
function hexOf(id: string): string {
  return id.replaceAll('-', '')
}

/** A text in parts of 140 characters, which is what an element holds, at most so many. */
function partsOf(text: string, most: number): string[] {
  const characters = [...text]
  const count = Math.min(most, Math.ceil(characters.length / 140))
  return Array.from({ length: count }, (_, part) => escaped(characters.slice(part * 140, (part + 1) * 140).join('')))
}

/** Text between tags, with what XML has no characters for replaced. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

function tag(name: string, ...within: readonly string[]): string {
  return `<${name}>${within.join('')}</${name}>`
}
