import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { Export, ExportLine } from './export.ts'

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
