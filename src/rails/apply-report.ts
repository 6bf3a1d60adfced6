import type { Context } from '../context.ts'
import { machineTime } from '../context.ts'
import type { Tx } from '../database/query.ts'
import { changeTransfer, moveTransfer } from '../payout-transfers/change-transfer.ts'
import type { Transfer, TransferReport } from '../payout-transfers/transfer.ts'
import { consequenceOf } from '../payout-transfers/transfer.ts'
import { settleWithin } from '../payouts/settle-payout.ts'
import { nextQuestionAt } from './questions.ts'

/** Does what follows from a bank's report, however it came: as an answer, or by itself. */
export async function applyReport(
  tx: Tx,
  context: Context,
  transfer: Transfer,
  report: TransferReport,
): Promise<Transfer> {
  const consequence = consequenceOf(transfer.state, report.state)
  const reference = transfer.reference ?? report.reference ?? null
  if (consequence === null) return changeTransfer(tx, transfer, { reference, ...asked(context, transfer, report) })

  const { state, settles } = consequence
  const cause = consequence.cause ?? report.code ?? null
  for (const status of settles) {
    await settleWithin(tx, context, { payoutId: transfer.payoutId, status, cause: report.code ?? null, reference })
  }
  const isNews = { ...transfer, state, asked: 0 }
  return moveTransfer(tx, context, transfer, {
    ...{ state, cause, reference, cancelAskedAt: state === 'ACCEPTED' ? transfer.cancelAskedAt : null },
    ...asked(context, isNews, report),
  })
}

/** When the bank is asked next: when it says itself that there is more, or on schedule where it has more to say. */
function asked(context: Context, transfer: Transfer, { nextAfterMs }: TransferReport) {
  if (transfer.state === 'ATTENTION') return { asked: 0, dueAt: null }
  if (nextAfterMs !== undefined) return { asked: 0, dueAt: BigInt(machineTime(context) + nextAfterMs) }
  if (transfer.state !== 'ACCEPTED') return { asked: 0, dueAt: null }
  return { asked: transfer.asked + 1, dueAt: nextQuestionAt(context, transfer.asked) }
}
