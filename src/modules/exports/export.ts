import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { Period } from './period.ts'

const exportKinds = ['payouts', 'statement', 'fees', 'deposits'] as const
export type ExportKind = (typeof exportKinds)[number]

/** Amounts in exports can be negative. */
export type ExportCell = string | number | Amount | null

export type ExportRecord = Readonly<Record<string, ExportCell>>

/**
 * In a wallet statement, `sequence` is the sequence of the last entry that the balance includes, or 0. Other exports
 * have no `sequence`.
 */
export type ExportBalance = { readonly assetCode: string; readonly balance: Amount; readonly sequence?: number }

/** `balanceAfter` is the balance after this line, or `null` if the balance is unknown. */
export type ExportLine = {
  readonly assetCode: string
  readonly moved: Amount
  readonly balanceAfter?: Amount | null
  readonly cells: ExportRecord
}

/**
 * The balances come from ledger transfers, not from the exported lines, so that the verification detects a wrong line.
 */
export type Export = {
  readonly kind: ExportKind
  readonly merchantId: string
  readonly walletId: string | null
  readonly period: Period
  readonly opening: readonly ExportBalance[]
  readonly closing: readonly ExportBalance[]
  readonly lineCount: number
  /** Some export formats allow at most five decimal places. */
  readonly hasMoreThanFiveDecimals: boolean
  /** Reading `pages` yields to the event loop between pages. */
  readonly pages: AsyncIterable<readonly ExportLine[]>
}

export const linesPerPage = 250

export const sumBatchSize = 1_000

export type VerifiedLine = ExportLine & { readonly balance: Amount }

/**
 * After the last line, verifies the number of lines and the closing balances. A closing balance must be the opening
 * balance plus all lines of the asset.
 *
 * @throws Error if the verification fails; the caller must then leave the file without an end marker
 */
export async function* verifyLines(exported: Export): AsyncGenerator<readonly VerifiedLine[]> {
  const balances = new Map(exported.opening.map(({ assetCode, balance }) => [assetCode, balance]))
  let count = 0
  for await (const lines of exported.pages) {
    count += lines.length
    yield lines.map((line) => {
      const balance = (balances.get(line.assetCode) ?? 0n) + line.moved
      balances.set(line.assetCode, balance)
      if (line.balanceAfter !== undefined && line.balanceAfter !== balance) {
        throw verificationError(
          exported,
          `${line.assetCode} is ${formatAmount(balance)} where the ledger says otherwise`,
        )
      }
      return { ...line, balance }
    })
  }
  if (count !== exported.lineCount) throw verificationError(exported, `${count} lines are not ${exported.lineCount}`)
  for (const { assetCode, balance } of exported.closing) {
    const sum = balances.get(assetCode) ?? 0n
    balances.delete(assetCode)
    if (sum !== balance) {
      const difference = `${assetCode} is ${formatAmount(sum)} and not ${formatAmount(balance)}`
      throw verificationError(exported, difference)
    }
  }
  if (balances.size > 0) {
    throw verificationError(exported, `there is no balance of ${[...balances.keys()].join(', ')}`)
  }
}

function verificationError({ kind, merchantId, walletId }: Export, problem: string): Error {
  const owner = walletId === null ? `merchant ${merchantId}` : `wallet ${walletId}`
  return new Error(
    `The export of ${kind} of ${owner} does not add up: ${problem}. The file is incomplete. Run \`audit\`.`,
  )
}
