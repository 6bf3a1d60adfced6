import { z } from 'zod'
import type { FieldFault } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import { dueAfter, timestamp } from '../../../core/ids.ts'
import { instant, isGiven, optional, parse, refuse } from '../../../core/input.ts'
import type { Reader, Tx } from '../../../database/query.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { atClock, requireSandbox } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { clockOfMerchant, lockMerchantById, storeClock } from '../../merchants/repository.ts'
import { lockTransfer, pausedRails } from '../../rail-orders/repository.ts'
import { sandboxRailName } from '../../rail-orders/sandbox-accounts.ts'
import { sandboxRail } from '../adapters/sandbox-rail.ts'
import {
  dueQuestionsOf,
  dueSubmissionsOf,
  nextDueOf,
  shiftDeliveries,
  shiftTransfers,
  submittingOf,
} from '../repository.ts'
import type { Begun } from './claim-order.ts'
import { beginDue } from './claim-order.ts'
import { answerBegun, limitsOf, runOrder } from './process-order.ts'

/** How far ahead a clock may be: ten years. */
const furthestMs = 10 * 366 * 24 * 3_600_000

/** How long it is waited for what another process has begun, in milliseconds, and how often it is looked for it. */
const [longestWaitMs, lookEveryMs] = [10_000, 5]

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const unitsMs = [7 * 24 * hour, 24 * hour, hour, minute, second]

const duration = () =>
  z.string().transform((text, context) => {
    const parts = /^P(?=.)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/.exec(
      text,
    )
    if (parts === null) return refuse(context, 'INVALID_FORMAT', 'must be a duration such as PT1H, P1D or P1W')
    return parts.slice(1).reduce((sum, count, place) => sum + Number(count ?? 0) * (unitsMs[place] ?? 0), 0)
  })

export const AdvanceClockInput = z.object({ to: optional(instant()), by: optional(duration()) })

/** The time to which it was moved, in ISO 8601. */
export type ClockTime = { readonly now: string }

/**
 * Moves the merchant's clock on, in the sandbox only: what falls due in the meantime on the sandbox's own rail has happened, each at
 * its time, before this answers, but for what waits for that rail while it is paused. What is to be posted, and what other rails
 * are to be asked, follows within a second or two.
 *
 * @param input exactly one of `to`, a moment that is later than now, and `by`, a duration of ISO 8601
 * @throws Refusal, the first that applies: SANDBOX_ONLY, INVALID_INPUT, IDEMPOTENCY_KEY_REUSED
 */
export async function advanceClock(
  context: Context,
  input: z.input<typeof AdvanceClockInput>,
): Promise<Done<ClockTime>> {
  requireSandbox(context)
  const request = parse(AdvanceClockInput, input, choiceFaults(input))
  // How far it is to go is decided once: whoever asks again with the same key goes on to there and not beyond.
  const { result, isReplayed } = await once(context, 'advanceClock', request, async (tx) => {
    await lockMerchantById(tx, { id: context.merchantId })
    const target = targetOf(context, await aheadNow(tx, context), request)
    return { target, now: timestamp(recordsNow(context) + target) }
  })
  await runUntil(context, result.target)
  return { result: { now: result.now }, isReplayed }
}

function choiceFaults({ to, by }: z.input<typeof AdvanceClockInput>): FieldFault[] {
  if (isGiven(to) && isGiven(by)) {
    return [{ field: 'by', code: 'INVALID_PARAMETER', message: 'must not be given together with to' }]
  }
  if (isGiven(to) || isGiven(by)) return []
  return [{ field: 'to', code: 'MISSING_REQUIRED_FIELD', message: 'must be given, or by' }]
}

function targetOf(context: Context, ahead: number, { to, by }: z.output<typeof AdvanceClockInput>): number {
  const machine = recordsNow(context)
  const target = to === null ? ahead + (by ?? 0) : Date.parse(to) - machine
  const field = to === null ? 'by' : 'to'
  if (target < ahead) {
    const message = `must be later than ${timestamp(machine + ahead)}, which it is already: a clock goes forward only`
    throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
  }
  if (target > furthestMs) {
    const message = `must lead no further than to ${timestamp(machine + furthestMs)}`
    throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
  }
  return target
}

/** What the merchant's clock would say if it had never been moved on. */
function recordsNow({ now, aheadMs }: Context): number {
  return now() - aheadMs
}

async function aheadNow(db: Reader, { merchantId }: Context): Promise<number> {
  return Number((await clockOfMerchant(db, { id: merchantId }))?.aheadMs ?? 0)
}

/** Moves on from one thing that falls due to the next, and has each done at its time. */
async function runUntil(context: Context, target: number): Promise<void> {
  // What the bank is being asked at this moment it answers by the clock of before: when there is more to ask is counted from then.
  await settleDown(atClock(context, await aheadNow(context.db, context)))
  for (;;) {
    const { ahead, begun } = await step(context, target)
    const then = atClock(context, ahead)
    for (const each of begun) await answerBegun(then, sandboxRail, each)
    await settleDown(then)
    if (ahead >= target && begun.length === 0) return
  }
}

type Step = { readonly ahead: number; readonly begun: readonly Begun[] }

/** Moves the clock to what falls due next, or to the target, and takes what is due then before anybody else can. */
function step(context: Context, target: number): Promise<Step> {
  const { merchantId, db } = context
  return db.write(async (tx) => {
    await lockMerchantById(tx, { id: merchantId })
    const before = await aheadNow(tx, context)
    const machine = context.wallClock()
    const next = await nextDueOf(tx, { merchantId, rail: sandboxRailName, after: dueAfter(0, machine) })
    const untilNext = next?.dueAt == null ? Number.POSITIVE_INFINITY : Number(next.dueAt) - machine
    const by = Math.max(0, Math.min(target - before, untilNext))
    const ahead = before + by
    if (by > 0) {
      await storeClock(tx, { id: merchantId, aheadMs: BigInt(ahead) })
      await shiftTransfers(tx, { merchantId, by: BigInt(by) })
      await shiftDeliveries(tx, { merchantId, by: BigInt(by) })
    }
    return { ahead, begun: await takeDue(tx, atClock(context, ahead)) }
  })
}

async function takeDue(tx: Tx, context: Context): Promise<Begun[]> {
  const { merchantId } = context
  const begun: Begun[] = []
  for (const orderId of await dueOrders(tx, context)) {
    const transfer = await lockTransfer(tx, { merchantId, orderId })
    const each = transfer && (await beginDue(tx, context, { transfer, rail: limitsOf(sandboxRail) }))
    if (each) begun.push(each)
  }
  return begun
}

/** Waits until what another process has begun on the sandbox's rail is over, and does what is due meanwhile. */
async function settleDown(context: Context): Promise<void> {
  const until = performance.now() + longestWaitMs
  const { merchantId, db } = context
  while (performance.now() < until) {
    const asked = { merchantId, rail: sandboxRailName }
    const due = await dueOrders(db, context)
    for (const orderId of due) await runOrder(context, sandboxRail, orderId)
    const submitting = await submittingOf(db, asked)
    if (due.length === 0 && submitting.length === 0) return
    if (due.length === 0) await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
}

async function dueOrders(db: Reader, context: Context): Promise<string[]> {
  const asked = { merchantId: context.merchantId, rail: sandboxRailName }
  const isPaused = (await pausedRails(db, {})).some(({ rail }) => rail === sandboxRailName)
  const submissions = isPaused ? [] : await dueSubmissionsOf(db, asked)
  const due = [...submissions, ...(await dueQuestionsOf(db, { ...asked, now: dueAfter(0, context.wallClock()) }))]
  return due.map(({ orderId }) => orderId)
}
