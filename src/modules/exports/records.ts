import { payout } from '../payouts/payout-shape.ts'
import type { Export, ExportBalance, ExportKind, ExportRecord, VerifiedLine } from './export.ts'
import { verifyLines } from './export.ts'

/** `type`, `number`, `currency` and `balance` are the names of columns that every kind of export has. */
export type RecordLayout = {
  readonly columns: readonly string[]
  readonly type: string
  readonly number: string
  readonly currency: string
  readonly balance: string
}

const journalColumns = { number: 'number', currency: 'currency', balance: 'running_total' }

export const recordLayouts: Readonly<Record<ExportKind, RecordLayout>> = {
  payouts: {
    ...{ type: 'PAYOUT', number: 'number', currency: 'asset_code', balance: 'running_total' },
    columns: [
      'type',
      'merchant_id',
      'number',
      ...Object.keys(payout.schema.properties ?? {}),
      'total',
      'running_total',
    ],
  },
  statement: {
    ...{ type: 'ENTRY', number: 'sequence', currency: 'currency', balance: 'balance' },
    columns: [
      ...['type', 'merchant_id', 'wallet_id', 'sequence', 'created_at', 'kind', 'direction', 'currency', 'amount'],
      ...['balance', 'transfer_id', 'payout_id', 'reference_id', 'transaction_id', 'withdrawal_recipient_name'],
      ...['amount_fiat', 'recipient_currency', 'narration', 'reference'],
    ],
  },
  fees: {
    ...{ type: 'FEE', ...journalColumns },
    columns: [
      ...['type', 'merchant_id', 'number', 'created_at', 'kind', 'currency', 'amount', 'running_total', 'payout_id'],
      'transaction_id',
    ],
  },
  deposits: {
    ...{ type: 'DEPOSIT', ...journalColumns },
    columns: [
      ...['type', 'merchant_id', 'number', 'created_at', 'id', 'wallet_id', 'currency', 'amount', 'running_total'],
      ...['reference', 'kind'],
    ],
  },
}

/**
 * The records of an export are the opening balances, the lines and, after the verification, the closing balances. The
 * last record of the file is `END` with the number of lines, or `END_NOT_FINAL` if a period can still get more rows. A
 * file without this last record is incomplete.
 */
export async function* recordsOfExports(
  layout: RecordLayout,
  exports: AsyncIterable<Export>,
): AsyncGenerator<readonly ExportRecord[]> {
  let count = 0
  let isFinal = true
  for await (const exported of exports) {
    yield* recordsOfExport(layout, exported)
    count += exported.lineCount
    isFinal &&= exported.period.isFinal
  }
  yield [{ type: isFinal ? 'END' : 'END_NOT_FINAL', [layout.number]: count }]
}

async function* recordsOfExport(layout: RecordLayout, exported: Export): AsyncGenerator<readonly ExportRecord[]> {
  const { merchantId, walletId, opening, closing, period } = exported
  const own = { merchant_id: merchantId, ...(walletId !== null && { wallet_id: walletId }) }
  let number = 0
  const balance = (type: string, at: string | null) => (each: ExportBalance) => ({
    ...{ type, ...own, [layout.number]: each.sequence ?? number, created_at: at },
    ...{ [layout.currency]: each.assetCode, [layout.balance]: each.balance },
  })
  const line = ({ cells, balance }: VerifiedLine) => ({
    ...{ type: layout.type, ...own, [layout.number]: ++number, ...cells, [layout.balance]: balance },
  })
  yield opening.map(balance('OPENING', period.from))
  for await (const lines of verifyLines(exported)) yield lines.map(line)
  yield closing.map(balance('CLOSING', period.to))
}
