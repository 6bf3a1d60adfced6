import type { Context } from '../../../operations/context.ts'
import type { PaymentInstruction, Rail } from '../adapters/rail.ts'
import type { ClaimedRailCall, RailCallLimits } from './claim-order.ts'
import { beginCall } from './claim-order.ts'
import type { RailCallResult } from './record-answer.ts'
import { recordAnswer } from './record-answer.ts'

/** What came of running what was due of an order. */
export type RailCallOutcome = 'nothing' | 'answered' | 'unanswered'

/** Asks a bank what is due of an order, and records what it says. */
export async function processOrder(context: Context, rail: Rail, orderId: string): Promise<RailCallOutcome> {
  const begun = await context.perform(beginCall, context, { orderId, rail: callLimitsOf(rail) })
  return begun === null ? 'nothing' : executeCall(context, rail, begun)
}

/** What beginning a call must know of a rail. */
export function callLimitsOf({ callMs, idempotentForMs }: Rail): RailCallLimits {
  return { callMs, idempotentForMs }
}

/** Makes a call that was begun, and records what came of it. */
export async function executeCall(
  context: Context,
  rail: Rail,
  { call, order, dueAt }: ClaimedRailCall,
): Promise<RailCallOutcome> {
  const { callMs, idempotentForMs } = rail
  // A process may have stood still since it began: the order is another's soon or by now, and may have been given up.
  if (BigInt(context.wallClock() + callMs) > dueAt) return 'nothing'
  const answer = await callWithTimeout(callMs, () => callRail(rail, call, order))
  await context.perform(recordAnswer, context, { orderId: order.id, dueAt, answer, idempotentForMs })
  return typeof answer === 'object' && 'failure' in answer ? 'unanswered' : 'answered'
}

async function callRail(
  rail: Rail,
  call: 'submit' | 'find' | 'cancel',
  order: PaymentInstruction,
): Promise<RailCallResult> {
  const calls = {
    submit: () => rail.submit(order),
    find: () => rail.find(order),
    // For a rail that takes nothing back it is always too late.
    cancel: () => rail.cancel?.(order) ?? 'TOO_LATE',
  }
  return calls[call]()
}

/** The answer, or why there is none: whatever goes wrong with a call, nothing is known of the order. */
async function callWithTimeout(callMs: number, call: () => Promise<RailCallResult>): Promise<RailCallResult> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<RailCallResult>((resolve) => {
    timer = setTimeout(resolve, callMs, { failure: `no answer came within ${callMs / 1_000} seconds` })
  })
  try {
    return await Promise.race([call(), late])
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}
