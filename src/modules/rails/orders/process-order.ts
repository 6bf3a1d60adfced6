import type { Context } from '../../../operations/context.ts'
import type { PaymentInstruction, Rail } from '../adapters/rail.ts'
import type { ClaimedRailCall, RailCallLimits } from './claim-order.ts'
import { beginCall } from './claim-order.ts'
import type { RailCallResult } from './record-response.ts'
import { recordResponse } from './record-response.ts'

export type RailCallOutcome = 'nothing' | 'answered' | 'unanswered'

export async function processOrder(context: Context, rail: Rail, orderId: string): Promise<RailCallOutcome> {
  const claimed = await context.perform(beginCall, context, { orderId, rail: callLimitsOf(rail) })
  return claimed === null ? 'nothing' : executeCall(context, rail, claimed)
}

export function callLimitsOf({ callMs, idempotentForMs }: Rail): RailCallLimits {
  return { callMs, idempotentForMs }
}

export async function executeCall(
  context: Context,
  rail: Rail,
  { call, order, dueAt }: ClaimedRailCall,
): Promise<RailCallOutcome> {
  const { callMs, idempotentForMs } = rail
  // The process may have stalled after it claimed the order, so that the lease would expire during the call.
  if (BigInt(context.wallClock() + callMs) > dueAt) return 'nothing'
  const response = await callWithTimeout(callMs, () => callRail(rail, call, order))
  await context.perform(recordResponse, context, { orderId: order.id, dueAt, response, idempotentForMs })
  return typeof response === 'object' && 'failure' in response ? 'unanswered' : 'answered'
}

async function callRail(
  rail: Rail,
  call: 'submit' | 'find' | 'cancel',
  order: PaymentInstruction,
): Promise<RailCallResult> {
  const calls = {
    submit: () => rail.submit(order),
    find: () => rail.find(order),
    // If a rail does not support `cancel`, the service assumes that it is too late to cancel.
    cancel: () => rail.cancel?.(order) ?? 'TOO_LATE',
  }
  return calls[call]()
}

/** `failure` means that the call threw or timed out, so the outcome is unknown. */
async function callWithTimeout(callMs: number, call: () => Promise<RailCallResult>): Promise<RailCallResult> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<RailCallResult>((resolve) => {
    timer = setTimeout(resolve, callMs, { failure: `no answer came within ${callMs / 1_000} seconds` })
  })
  try {
    return await Promise.race([call(), timeout])
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}
