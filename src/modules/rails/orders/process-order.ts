import type { Context } from '../../../operations/context.ts'
import type { Order, Rail } from '../adapters/rail.ts'
import type { Begun, CallLimits } from './claim-order.ts'
import { beginCall } from './claim-order.ts'
import type { Answer } from './record-answer.ts'
import { recordAnswer } from './record-answer.ts'

/** What came of running what was due of an order. */
export type Ran = 'nothing' | 'answered' | 'unanswered'

/** Asks a bank what is due of an order, and records what it says. */
export async function runOrder(context: Context, rail: Rail, orderId: string): Promise<Ran> {
  const begun = await context.perform(beginCall, context, { orderId, rail: limitsOf(rail) })
  return begun === null ? 'nothing' : answerBegun(context, rail, begun)
}

/** What beginning a call must know of a rail. */
export function limitsOf({ callMs, idempotentForMs }: Rail): CallLimits {
  return { callMs, idempotentForMs }
}

/** Makes a call that was begun, and records what came of it. */
export async function answerBegun(context: Context, rail: Rail, { call, order, dueAt }: Begun): Promise<Ran> {
  const { callMs, idempotentForMs } = rail
  // A process may have stood still since it began: the order is another's soon or by now, and may have been given up.
  if (BigInt(context.wallClock() + callMs) > dueAt) return 'nothing'
  const answer = await answerWithin(callMs, () => ask(rail, call, order))
  await context.perform(recordAnswer, context, { orderId: order.id, dueAt, answer, idempotentForMs })
  return typeof answer === 'object' && 'failure' in answer ? 'unanswered' : 'answered'
}

async function ask(rail: Rail, call: 'submit' | 'find' | 'cancel', order: Order): Promise<Answer> {
  const calls = {
    submit: () => rail.submit(order),
    find: () => rail.find(order),
    // For a rail that takes nothing back it is always too late.
    cancel: () => rail.cancel?.(order) ?? 'TOO_LATE',
  }
  return calls[call]()
}

/** The answer, or why there is none: whatever goes wrong with a call, nothing is known of the order. */
async function answerWithin(callMs: number, call: () => Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Answer>((resolve) => {
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
