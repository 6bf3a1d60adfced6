import type { DueTime } from '../../../core/ids-and-clock.ts'
import { dueTimeAfter, timestamp } from '../../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../../core/maybe-promise.ts'
import type { Tx } from '../../../database/query.ts'
import type { RowOf } from '../../../database/tables.ts'
import type { Context } from '../../../operations/context.ts'
import { strictlyLaterUpdatedAt } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { recordEvent } from '../../outbox/record-event.ts'
import { lockWebhookEndpointById, storeWebhookEndpoint } from '../endpoints/repository.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import { toPublicEndpoint } from '../endpoints/webhook-endpoint.ts'
import {
  deliveriesBySequence,
  insertAttempt,
  pendingObjects,
  releaseObject,
  storeDelivery,
  storeEndpointProgress,
  storeWaitingDelivery,
} from './repository.ts'

export type AttemptRecord = Pick<
  RowOf<'webhookAttempts'>,
  'sequence' | 'attemptedAt' | 'durationMs' | 'status' | 'answer' | 'error'
> & {
  readonly objectId: string
  readonly happenedAt: string
  /** For a retry, the number of attempts when the delivery was read; for an event from the feed, `null`. */
  readonly storedAttempts: number | null
  /** The number of earlier attempts in the current retry schedule. A replay restarts the retry schedule. */
  readonly attemptsInSchedule: number
  readonly outcome: 'delivered' | 'pending' | 'exhausted'
  readonly nextAttemptAt: DueTime | null
}

export type WaitingEvent = Pick<AttemptRecord, 'sequence' | 'objectId'>

export type AttemptReport = {
  readonly endpointId: string
  readonly attempted: readonly AttemptRecord[]
  readonly waiting: readonly WaitingEvent[]
  /**
   * The endpoint's cursor moves to `to` only if the cursor is still at `from` (compare-and-set), because the merchant
   * may have moved the cursor.
   */
  readonly cursor: { readonly from: number; readonly to: number }
  readonly isGone: boolean
}

export type RecordedAttempts = {
  readonly isMoved: boolean
  readonly isEnabled: boolean
  readonly pending: readonly string[]
}

/** An endpoint is disabled only if both `maxFailures` and `maxFailingMs` are reached. */
const maxFailures = 20
const maxFailingMs = 5 * 24 * 60 * 60 * 1000
const probeIntervalMs = 24 * 60 * 60 * 1000

export const recordAttempts = defineInternalOperation(
  'recordAttempts',
  async (context: Context, report: AttemptReport): Promise<RecordedAttempts | null> => {
    const { merchantId, db } = context
    return db.write(
      async (tx) => {
        const endpoint = await lockWebhookEndpointById(tx, { merchantId, id: report.endpointId })
        if (!endpoint) return null
        const isMoved = endpoint.cursor !== report.cursor.from
        await storeDeliveries(tx, context, { report, isMoved })
        const pending = await releaseObjects(tx, context, report)
        const cursor = isMoved ? endpoint.cursor : report.cursor.to
        const isEnabled = await updateEndpointHealth(tx, context, { endpoint: { ...endpoint, cursor }, report })
        return { isMoved, isEnabled, pending }
      },
      { merchantId },
    )
  },
)

type StoreDeliveriesInput = { readonly report: AttemptReport; readonly isMoved: boolean }

async function storeDeliveries(tx: Tx, context: Context, { report, isMoved }: StoreDeliveriesInput): Promise<void> {
  const { merchantId } = context
  const { endpointId, attempted, waiting } = report
  const key = { merchantId, endpointId, createdAt: timestamp(context.now()) }
  const sequences = attempted.map(({ sequence }) => sequence)
  const stored = sequences.length === 0 ? [] : await deliveriesBySequence(tx, { merchantId, endpointId, sequences })
  const rowsBySequence = new Map(stored.map((row) => [row.sequence, row]))
  await allOrFirstError([
    // If the merchant moved the cursor, waiting events are not stored. Events after the new cursor are read again, and
    // events before the new cursor must not be sent.
    ...(isMoved ? [] : waiting.map((event) => storeWaitingDelivery(tx, { ...key, ...event }))),
    ...attempted.flatMap((record) => {
      const { sequence, objectId, attemptedAt, durationMs, status, answer, error } = record
      const delivery = nextDeliveryState(record, rowsBySequence.get(sequence), isMoved)
      const attempt = { sequence, attempt: delivery.attempts, attemptedAt, durationMs, status, answer, error }
      return [
        storeDelivery(tx, { ...key, sequence, objectId, ...delivery }),
        insertAttempt(tx, { merchantId, endpointId, ...attempt }),
      ]
    }),
  ])
}

type StoredDelivery = Awaited<ReturnType<typeof deliveriesBySequence>>[number]

/**
 * If the merchant or another process has changed the delivery during the attempt, the attempt is logged but does not
 * change the delivery's state.
 */
function nextDeliveryState(attempted: AttemptRecord, row: StoredDelivery | undefined, isMoved: boolean) {
  const { outcome, nextAttemptAt, storedAttempts } = attempted
  const isPending = row?.status === 'pending'
  const isUnchanged = storedAttempts === null ? !isMoved && !isPending : isPendingUnchanged(row, attempted)
  const attempts = (row?.attempts ?? 0) + 1
  if (isUnchanged) {
    // A replay of a finished delivery starts a new retry schedule.
    const attemptsBefore = (isPending ? row.attemptsBefore : row?.attempts) ?? 0
    return { status: outcome, nextAttemptAt, attempts, attemptsBefore }
  }
  // A missing row means that the merchant moved the cursor. The event is not scheduled for a retry.
  const status =
    row?.status ?? ({ delivered: 'delivered', pending: 'exhausted', exhausted: 'exhausted' } as const)[outcome]
  return { status, nextAttemptAt: row?.nextAttemptAt ?? null, attempts, attemptsBefore: row?.attemptsBefore ?? 0 }
}

function isPendingUnchanged(
  row: StoredDelivery | undefined,
  { storedAttempts, attemptsInSchedule }: AttemptRecord,
): boolean {
  return (
    row?.status === 'pending' &&
    row.attempts === storedAttempts &&
    row.attempts - row.attemptsBefore === attemptsInSchedule
  )
}

async function releaseObjects(
  tx: Tx,
  context: Context,
  { endpointId, attempted, waiting }: AttemptReport,
): Promise<string[]> {
  const { merchantId } = context
  const sequences = [...attempted, ...waiting].map(({ sequence }) => sequence)
  if (sequences.length === 0) return []
  const rows = await pendingObjects(tx, { merchantId, endpointId, sequences })
  const pending = [...new Set(rows.map(({ objectId }) => objectId))]
  const now = dueTimeAfter(0, context.wallClock())
  await allOrFirstError(pending.map((objectId) => releaseObject(tx, { merchantId, endpointId, objectId, now })))
  return pending
}

type EndpointHealthUpdate = { readonly endpoint: StoredWebhookEndpoint; readonly report: AttemptReport }

async function updateEndpointHealth(
  tx: Tx,
  context: Context,
  { endpoint, report }: EndpointHealthUpdate,
): Promise<boolean> {
  const { attempted, isGone } = report
  if (attempted.length === 0) {
    await storeEndpointProgress(tx, endpoint)
    return endpoint.status === 'enabled'
  }
  const failed = attempted.filter(({ outcome }) => outcome !== 'delivered')
  const hasSucceeded = failed.length < attempted.length
  const failures = hasSucceeded ? 0 : endpoint.failures + failed.length
  const failingSince = hasSucceeded ? null : (endpoint.failingSince ?? attempted[0]?.attemptedAt ?? null)
  const updated = { ...endpoint, failures, failingSince }
  if (endpoint.status === 'enabled') {
    const reason = isGone ? 'gone' : hasFailedTooLong(context, updated) ? 'failing' : null
    if (reason === null) {
      await storeEndpointProgress(tx, updated)
      return true
    }
    await disableEndpoint(tx, context, { ...updated, disabledReason: reason })
    return false
  }
  if (endpoint.disabledReason !== 'failing') {
    await storeEndpointProgress(tx, updated)
    return false
  }
  const enabled = hasSucceeded ? ({ status: 'enabled', disabledReason: null } as const) : {}
  const probeAt = hasSucceeded ? null : timestamp(context.wallClock() + probeIntervalMs)
  await storeWebhookEndpoint(tx, {
    ...updated,
    ...enabled,
    probeAt,
    updatedAt: strictlyLaterUpdatedAt(context, endpoint),
  })
  return hasSucceeded
}

function hasFailedTooLong({ now }: Context, { failures, failingSince }: StoredWebhookEndpoint): boolean {
  return failures >= maxFailures && failingSince !== null && now() - Date.parse(failingSince) >= maxFailingMs
}

/** A disabled endpoint keeps its cursor and pending deliveries, so that delivery can resume. */
async function disableEndpoint(tx: Tx, context: Context, endpoint: StoredWebhookEndpoint): Promise<void> {
  const probeAt = endpoint.disabledReason === 'failing' ? timestamp(context.wallClock() + probeIntervalMs) : null
  const updatedAt = strictlyLaterUpdatedAt(context, endpoint)
  const disabled = { ...endpoint, status: 'disabled', probeAt, updatedAt } as const
  await storeWebhookEndpoint(tx, disabled)
  const data = toPublicEndpoint(disabled)
  await recordEvent(tx, context, { type: 'webhook_endpoint.disabled', objectId: endpoint.id, at: updatedAt, data })
}
