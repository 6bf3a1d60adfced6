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

const maxAheadMs = 10 * 366 * 24 * 3_600_000

/**
 * If another process calls the sandbox rail, the operation checks every 5 ms, for at most 10 s, whether the call has
 * ended.
 */
const [maxWaitMs, pollIntervalMs] = [10_000, 5]

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const unitsMs = [7 * 24 * hour, 24 * hour, hour, minute, second]

const durationInput = () =>
  z.string().transform((text, context) => {
    const parts = /^P(?=.)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/.exec(
      text,
    )
    if (parts === null) return rejectField(context, 'INVALID_FORMAT', 'must be a duration such as PT1H, P1D or P1W')
    return parts.slice(1).reduce((sum, count, i) => sum + Number(count ?? 0) * (unitsMs[i] ?? 0), 0)
  })

const AdvanceClockInput = z.object({ to: optional(instant()), by: optional(durationInput()) })

export type ClockTime = { readonly now: string }

/**
 * Runs every call to the sandbox rail that is due by the new time, and waits for the end of these calls. During a call,
 * the merchant's clock shows the due time of the call. If the sandbox rail is paused, payouts are not submitted.
 * Webhooks and calls to other rails run within seconds after the function returns.
 *
 * @param input has exactly one of `to` (a time that is not in the past) and `by` (an ISO 8601 duration)
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
    // The target time is computed once, so that a retry with the same idempotency key advances to the same time.
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
    return [{ field: 'by', code: 'INVALID_PARAMETER', message: 'must not be used together with to' }]
  }
  if (hasValue(to) || hasValue(by)) return []
  return [{ field: 'to', code: 'MISSING_REQUIRED_FIELD', message: 'is required, unless by is given' }]
}

function targetAheadMs(context: Context, ahead: number, { to, by }: z.output<typeof AdvanceClockInput>): number {
  const machine = unshiftedNow(context)
  const target = to === null ? ahead + (by ?? 0) : Date.parse(to) - machine
  const field = to === null ? 'by' : 'to'
  if (target < ahead) {
    const message = `must not be before ${timestamp(machine + ahead)}, the current time: the clock only moves forward`
    throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
  }
  if (target > maxAheadMs) {
    const message = `must not go beyond ${timestamp(machine + maxAheadMs)}`
    throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
  }
  return target
}

function unshiftedNow({ now, aheadMs }: Context): number {
  return now() - aheadMs
}

async function readAheadMs(db: Reader, { merchantId }: Context): Promise<number> {
  return Number((await clockOfMerchant(db, { id: merchantId }))?.aheadMs ?? 0)
}

async function advanceTo(context: Context, target: number): Promise<void> {
  // Waits for calls in flight, because their next due times are computed with the old clock.
  await drainSandboxRail(withClockOffset(context, await readAheadMs(context.db, context)))
  for (;;) {
    const { ahead, calls } = await advanceOnce(context, target)
    const advancedContext = withClockOffset(context, ahead)
    for (const call of calls) await executeCall(advancedContext, sandboxRail, call)
    await drainSandboxRail(advancedContext)
    if (ahead >= target && calls.length === 0) return
  }
}

type ClockStep = { readonly ahead: number; readonly calls: readonly ClaimedRailCall[] }

/**
 * Advances the merchant's clock to the next due time or to the target, and claims the due calls in the same
 * transaction.
 */
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
    return { ahead, calls: await claimDueCalls(tx, withClockOffset(context, ahead)) }
  })
}

async function claimDueCalls(tx: Tx, context: Context): Promise<ClaimedRailCall[]> {
  const { merchantId } = context
  const calls: ClaimedRailCall[] = []
  for (const orderId of await findDueOrderIds(tx, context)) {
    const railOrder = await lockRailOrder(tx, { merchantId, orderId })
    const call = railOrder && (await beginDueCall(tx, context, { railOrder, rail: callLimitsOf(sandboxRail) }))
    if (call) calls.push(call)
  }
  return calls
}

async function drainSandboxRail(context: Context): Promise<void> {
  const deadline = performance.now() + maxWaitMs
  const { merchantId, db } = context
  while (performance.now() < deadline) {
    const due = await findDueOrderIds(db, context)
    for (const orderId of due) await processOrder(context, sandboxRail, orderId)
    const submitting = await submittingOrdersOfMerchant(db, { merchantId, rail: sandboxRailName })
    if (due.length === 0 && submitting.length === 0) return
    if (due.length === 0) await new Promise((resolve) => setTimeout(resolve, pollIntervalMs))
  }
}

async function findDueOrderIds(db: Reader, context: Context): Promise<string[]> {
  const key = { merchantId: context.merchantId, rail: sandboxRailName }
  const isPaused = (await pausedRails(db, {})).some(({ rail }) => rail === sandboxRailName)
  const submissions = isPaused ? [] : await dueSubmissionsOfMerchant(db, key)
  const due = [...submissions, ...(await duePollsOfMerchant(db, { ...key, now: dueTimeAfter(0, context.wallClock()) }))]
  return due.map(({ orderId }) => orderId)
}
