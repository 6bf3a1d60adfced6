import { z } from 'zod'
import type { FieldError } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import { dueTimeAfter, timestamp } from '../../../core/ids-and-clock.ts'
import { hasValue, instant, optional, parseInput, rejectField } from '../../../core/input.ts'
import type { Reader, Tx } from '../../../database/query.ts'
import type { Context, IdempotentResult } from '../../../operations/context.ts'
import { withClockOffset } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { clockOfMerchant, lockMerchantById, upsertMerchantClock } from '../../merchants/repository.ts'
import { lockRailOrder, pausedRails } from '../../rail-orders/repository.ts'
import { sandboxRailName } from '../../rail-orders/sandbox-accounts.ts'
import { sandboxRail } from '../adapters/sandbox-rail.ts'
import {
  duePollsOfMerchant,
  dueSubmissionsOfMerchant,
  nextDueTimeOfMerchant,
  shiftDeliveryDueTimes,
  shiftRailOrderDueTimes,
  submittingOrdersOfMerchant,
} from '../repository.ts'
import type { ClaimedRailCall } from './claim-order.ts'
import { beginDueCall } from './claim-order.ts'
import { callLimitsOf, executeCall, processOrder } from './process-order.ts'

/** How far ahead a clock may be: ten years. */
const maxAheadMs = 10 * 366 * 24 * 3_600_000

/** How long it is waited for what another process has begun, in milliseconds, and how often it is looked for it. */
const [maxWaitMs, pollIntervalMs] = [10_000, 5]

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const unitsMs = [7 * 24 * hour, 24 * hour, hour, minute, second]

const durationInput = () =>
  z.string().transform((text, context) => {
    const parts = /^P(?=.)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/.exec(
      text,
    )
    if (parts === null) return rejectField(context, 'INVALID_FORMAT', 'must be a duration such as PT1H, P1D or P1W')
    return parts.slice(1).reduce((sum, count, place) => sum + Number(count ?? 0) * (unitsMs[place] ?? 0), 0)
  })

const AdvanceClockInput = z.object({ to: optional(instant()), by: optional(durationInput()) })

/** The time to which it was moved, in ISO 8601. */
export type ClockTime = { readonly now: string }

/**
 * Moves the merchant's clock on, in the sandbox only: what falls due in the meantime on the sandbox's own rail has happened, each at
 * its time, before this answers, but for what waits for that rail while it is paused. What is to be posted, and what other rails
 * are to be asked, follows within a second or two.
 *
 * @param input exactly one of `to`, a moment that is later than now, and `by`, a duration of ISO 8601
 */
export const advanceClock = defineOperation(
  {
    name: 'advanceClock',
    input: AdvanceClockInput,
    scope: 'sandbox',
    movesMoney: true,
    sandboxOnly: true,
    errors: [],
  },
  async (context, input): Promise<IdempotentResult<ClockTime>> => {
    const request = parseInput(AdvanceClockInput, input, clockInputErrors(input))
    // How far it is to go is decided once: whoever asks again with the same key goes on to there and not beyond.
    const { result, isReplayed } = await runOnce(context, 'advanceClock', request, async (tx) => {
      await lockMerchantById(tx, { id: context.merchantId })
      const target = targetAheadMs(context, await readAheadMs(tx, context), request)
      return { target, now: timestamp(unshiftedNow(context) + target) }
    })
    await advanceTo(context, result.target)
    return { result: { now: result.now }, isReplayed }
  },
)

function clockInputErrors({ to, by }: z.input<typeof AdvanceClockInput>): FieldError[] {
  if (hasValue(to) && hasValue(by)) {
    return [{ field: 'by', code: 'INVALID_PARAMETER', message: 'must not be given together with to' }]
  }
  if (hasValue(to) || hasValue(by)) return []
  return [{ field: 'to', code: 'MISSING_REQUIRED_FIELD', message: 'must be given, or by' }]
}

function targetAheadMs(context: Context, ahead: number, { to, by }: z.output<typeof AdvanceClockInput>): number {
  const machine = unshiftedNow(context)
  const target = to === null ? ahead + (by ?? 0) : Date.parse(to) - machine
  const field = to === null ? 'by' : 'to'
  if (target < ahead) {
    const message = `must be later than ${timestamp(machine + ahead)}, which it is already: a clock goes forward only`
    throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
  }
  if (target > maxAheadMs) {
    const message = `must lead no further than to ${timestamp(machine + maxAheadMs)}`
    throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
  }
  return target
}

/** What the merchant's clock would say if it had never been moved on. */
function unshiftedNow({ now, aheadMs }: Context): number {
  return now() - aheadMs
}

async function readAheadMs(db: Reader, { merchantId }: Context): Promise<number> {
  return Number((await clockOfMerchant(db, { id: merchantId }))?.aheadMs ?? 0)
}

/** Moves on from one thing that falls due to the next, and has each done at its time. */
async function advanceTo(context: Context, target: number): Promise<void> {
  // What the bank is being asked at this moment it answers by the clock of before: when there is more to ask is counted from then.
  await drainSandboxRail(withClockOffset(context, await readAheadMs(context.db, context)))
  for (;;) {
    const { ahead, begun } = await advanceOnce(context, target)
    const then = withClockOffset(context, ahead)
    for (const each of begun) await executeCall(then, sandboxRail, each)
    await drainSandboxRail(then)
    if (ahead >= target && begun.length === 0) return
  }
}

type ClockStep = { readonly ahead: number; readonly begun: readonly ClaimedRailCall[] }

/** Moves the clock to what falls due next, or to the target, and takes what is due then before anybody else can. */
function advanceOnce(context: Context, target: number): Promise<ClockStep> {
  const { merchantId, db } = context
  return db.write(async (tx) => {
    await lockMerchantById(tx, { id: merchantId })
    const before = await readAheadMs(tx, context)
    const machine = context.wallClock()
    const next = await nextDueTimeOfMerchant(tx, { merchantId, rail: sandboxRailName, after: dueTimeAfter(0, machine) })
    const untilNext = next?.dueAt == null ? Number.POSITIVE_INFINITY : Number(next.dueAt) - machine
    const by = Math.max(0, Math.min(target - before, untilNext))
    const ahead = before + by
    if (by > 0) {
      await upsertMerchantClock(tx, { id: merchantId, aheadMs: BigInt(ahead) })
      await shiftRailOrderDueTimes(tx, { merchantId, by: BigInt(by) })
      await shiftDeliveryDueTimes(tx, { merchantId, by: BigInt(by) })
    }
    return { ahead, begun: await claimDueCalls(tx, withClockOffset(context, ahead)) }
  })
}

async function claimDueCalls(tx: Tx, context: Context): Promise<ClaimedRailCall[]> {
  const { merchantId } = context
  const begun: ClaimedRailCall[] = []
  for (const orderId of await findDueOrderIds(tx, context)) {
    const transfer = await lockRailOrder(tx, { merchantId, orderId })
    const each = transfer && (await beginDueCall(tx, context, { transfer, rail: callLimitsOf(sandboxRail) }))
    if (each) begun.push(each)
  }
  return begun
}

/** Waits until what another process has begun on the sandbox's rail is over, and does what is due meanwhile. */
async function drainSandboxRail(context: Context): Promise<void> {
  const until = performance.now() + maxWaitMs
  const { merchantId, db } = context
  while (performance.now() < until) {
    const asked = { merchantId, rail: sandboxRailName }
    const due = await findDueOrderIds(db, context)
    for (const orderId of due) await processOrder(context, sandboxRail, orderId)
    const submitting = await submittingOrdersOfMerchant(db, asked)
    if (due.length === 0 && submitting.length === 0) return
    if (due.length === 0) await new Promise((resolve) => setTimeout(resolve, pollIntervalMs))
  }
}

async function findDueOrderIds(db: Reader, context: Context): Promise<string[]> {
  const asked = { merchantId: context.merchantId, rail: sandboxRailName }
  const isPaused = (await pausedRails(db, {})).some(({ rail }) => rail === sandboxRailName)
  const submissions = isPaused ? [] : await dueSubmissionsOfMerchant(db, asked)
  const due = [
    ...submissions,
    ...(await duePollsOfMerchant(db, { ...asked, now: dueTimeAfter(0, context.wallClock()) })),
  ]
  return due.map(({ orderId }) => orderId)
}
