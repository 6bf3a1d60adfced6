import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { Period } from './period.ts'

/** What can be exported. */
const exportKinds = ['payouts', 'statement', 'fees', 'deposits'] as const
export type ExportKind = (typeof exportKinds)[number]

/** What stands in a cell: text of callers, what is made here, or an amount, which may be below zero. */
export type ExportCell = string | number | Amount | null

/** A record by the names of its columns. */
export type ExportRecord = Readonly<Record<string, ExportCell>>

/** What an account of an asset holds at a moment, and in a wallet's statement the number of the last entry before that, 0 for none. */
export type ExportBalance = { readonly assetCode: string; readonly balance: Amount; readonly sequence?: number }

/** A line: how much it moves in the account of an asset, what the ledger says that holds then, and what else there is to say. */
export type ExportLine = {
  readonly assetCode: string
  readonly moved: Amount
  readonly balanceAfter?: Amount | null
  readonly cells: ExportRecord
}

/**
 * What is exported of one merchant: the lines of a period with the balances before and after. The balances come from the
 * ledger's transfers and not from the lines, so that each proves the other.
 */
export type Export = {
  readonly kind: ExportKind
  readonly merchantId: string
  readonly walletId: string | null
  readonly period: Period
  readonly opening: readonly ExportBalance[]
  readonly closing: readonly ExportBalance[]
  /** How many lines there must be. */
  readonly lineCount: number
  /** Whether an amount of them has more than five decimal places, which some formats can't say. */
  readonly hasMoreThanFiveDecimals: boolean
  /** The lines in their order, some at a time: whoever reads them lets others have a turn in between. */
  readonly pages: AsyncIterable<readonly ExportLine[]>
}

/** Lines that are held in memory at once. */
export const linesPerPage = 250

/** Numbers of a sequence that one query adds up: it is done within a few milliseconds. */
export const sumBatchSize = 1_000

/** A line with the balance after it. */
export type VerifiedLine = ExportLine & { readonly balance: Amount }

/**
 * The lines of an export, each with the balance after it, and at the end the proof: there are as many as the ledger has, and they lead
 * from what was held before to what was held after, to the unit.
 *
 * @throws Error that says what does not add up; whoever writes must not end as if it did
 */
export async function* verifyLines(exported: Export): AsyncGenerator<readonly VerifiedLine[]> {
  const held = new Map(exported.opening.map(({ assetCode, balance }) => [assetCode, balance]))
  let count = 0
  for await (const lines of exported.pages) {
    count += lines.length
    yield lines.map((line) => {
      const balance = (held.get(line.assetCode) ?? 0n) + line.moved
      held.set(line.assetCode, balance)
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
    const sum = held.get(assetCode) ?? 0n
    held.delete(assetCode)
    if (sum !== balance) {
      const told = `${assetCode} comes to ${formatAmount(sum)} and not to ${formatAmount(balance)}`
      throw verificationError(exported, told)
    }
  }
  if (held.size > 0) throw verificationError(exported, `there is no balance of ${[...held.keys()].join(', ')}`)
}

function verificationError({ kind, merchantId, walletId }: Export, what: string): Error {
  const whose = walletId === null ? `merchant ${merchantId}` : `wallet ${walletId}`
  return new Error(`The export of ${kind} of ${whose} does not add up: ${what}. It is not complete; run the audit.`)
}
