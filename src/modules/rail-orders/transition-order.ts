import type { Tx } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import { timeOfChange } from '../../operations/context.ts'
import type { Transfer, TransferState, TransferStep } from './rail-order.ts'
import { storeTransfer } from './repository.ts'

/** Steps that are kept of a transfer: one that goes to and fro for months keeps the first and the latest. */
const mostSteps = 100

type Change = Partial<Pick<Transfer, 'dueAt' | 'asked' | 'attempts' | 'submittedAt' | 'reference' | 'cancelAskedAt'>>

/** Changes what is known of a transfer, in the state that it is in. */
export async function changeTransfer(tx: Tx, transfer: Transfer, changes: Change): Promise<Transfer> {
  const changed = { ...transfer, ...changes }
  await storeTransfer(tx, changed)
  return changed
}

/** Brings a transfer into another state, and notes when and why. */
export async function moveTransfer(
  tx: Tx,
  context: Context,
  transfer: Transfer,
  { state, cause = null, ...changes }: Change & { readonly state: TransferState; readonly cause?: string | null },
): Promise<Transfer> {
  const updatedAt = timeOfChange(context, transfer)
  const moved = {
    ...transfer,
    ...changes,
    state,
    updatedAt,
    history: stepsWith(transfer, { state, at: updatedAt, cause }),
  }
  await storeTransfer(tx, moved)
  return moved
}

/** Notes what was heard of a transfer that stays as it is, in the state that it has had since it was brought there. */
export async function noteOfTransfer(
  tx: Tx,
  context: Context,
  transfer: Transfer,
  { cause, ...changes }: Change & { readonly cause: string },
): Promise<Transfer> {
  const { state } = transfer
  const at = timeOfChange(context, transfer)
  const noted = { ...transfer, ...changes, history: stepsWith(transfer, { state, at, cause }) }
  await storeTransfer(tx, noted)
  return noted
}

function stepsWith({ history }: Transfer, step: TransferStep): TransferStep[] {
  const steps = [...history, step] as TransferStep[]
  if (steps.length > mostSteps) steps.splice(mostSteps / 2, 1)
  return steps
}
