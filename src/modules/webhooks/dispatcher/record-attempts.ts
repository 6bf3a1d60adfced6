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

/** An attempt that was made, and what becomes of the delivery by it. */
export type AttemptRecord = Pick<
  RowOf<'webhookAttempts'>,
  'sequence' | 'attemptedAt' | 'durationMs' | 'status' | 'answer' | 'error'
> & {
  readonly objectId: string
  /** When the event happened, in ISO 8601. */
  readonly happenedAt: string
  /** The attempts of its delivery when it was taken up again; `null` for an event that came from the feed. */
  readonly known: number | null
  /** Those of them since it was last asked for. */
  readonly tries: number
  readonly becomes: 'delivered' | 'pending' | 'exhausted'
  /** In milliseconds since 1970, where it is pending. */
  readonly nextAttemptAt: DueTime | null
}

/** An event that waits until what is pending of its object is over. */
export type WaitingEvent = Pick<AttemptRecord, 'sequence' | 'objectId'>

/** What is to be recorded of an endpoint: attempts, events that wait for earlier ones, and where its cursor has come to. */
export type AttemptReport = {
  readonly endpointId: string
  readonly attempted: readonly AttemptRecord[]
  readonly waiting: readonly WaitingEvent[]
  /** Moved only where it still is `from`: its owner may have moved it. */
  readonly cursor: { readonly from: number; readonly to: number }
  /** It answered that it is gone. */
  readonly isGone: boolean
}

/**
 * What the sender has to know: whether its owner, or another process, has moved the cursor meanwhile, and of which objects of
 * the report something is pending.
 */
export type RecordedAttempts = {
  readonly isMoved: boolean
  readonly isEnabled: boolean
  readonly pending: readonly string[]
}

/** One is disabled that failed so often, for so long; and is tried once in a while from then on. */
const maxFailures = 20
const maxFailingMs = 5 * 24 * 60 * 60 * 1000
const probeIntervalMs = 24 * 60 * 60 * 1000

/**
 * Records what came of sending to an endpoint, in one transaction.
 *
 * @returns `null` where the endpoint is there no more
 */
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
  const own = { merchantId, endpointId, createdAt: timestamp(context.now()) }
  const sequences = attempted.map(({ sequence }) => sequence)
  const stored = sequences.length === 0 ? [] : await deliveriesBySequence(tx, { merchantId, endpointId, sequences })
  const storedOf = new Map(stored.map((row) => [row.sequence, row]))
  await allOrFirstError([
    // Where the cursor was moved these are read again, or nobody wants them.
    ...(isMoved ? [] : waiting.map((each) => storeWaitingDelivery(tx, { ...own, ...each }))),
    ...attempted.flatMap((each) => {
      const { sequence, objectId, attemptedAt, durationMs, status, answer, error } = each
      const row = storedOf.get(sequence)
      const delivery = nextDeliveryState(each, row, isMoved)
      const attempt = { sequence, attempt: delivery.attempts, attemptedAt, durationMs, status, answer, error }
      return [
        storeDelivery(tx, { ...own, sequence, objectId, ...delivery }),
        insertAttempt(tx, { merchantId, endpointId, ...attempt }),
      ]
    }),
  ])
}

type StoredDelivery = Awaited<ReturnType<typeof deliveriesBySequence>>[number]

/**
 * What becomes of a delivery by an attempt. If something else has become of it since the attempt began, by its owner or by a
 * process that took this one for dead, that stays, and the attempt is told in the log only.
 */
function nextDeliveryState(attempted: AttemptRecord, row: StoredDelivery | undefined, isMoved: boolean) {
  const { becomes, nextAttemptAt } = attempted
  const isAsKnown =
    attempted.known === null ? !isMoved && row?.status !== 'pending' : isPendingUnchanged(row, attempted)
  const attempts = (row?.attempts ?? 0) + 1
  // One that was over is tried from the start of the schedule.
  const isPending = row?.status === 'pending'
  const attemptsBefore = (isPending ? row.attemptsBefore : row?.attempts) ?? 0
  if (isAsKnown) return { status: becomes, nextAttemptAt, attempts, attemptsBefore }
  const status =
    row?.status ?? ({ delivered: 'delivered', pending: 'exhausted', exhausted: 'exhausted' } as const)[becomes]
  return { status, nextAttemptAt: row?.nextAttemptAt ?? null, attempts, attemptsBefore: row?.attemptsBefore ?? 0 }
}

/** Whether it is to be tried again, and was neither tried nor asked for since it was read. */
function isPendingUnchanged(row: StoredDelivery | undefined, { known, tries }: AttemptRecord): boolean {
  return row?.status === 'pending' && row.attempts === known && row.attempts - row.attemptsBefore === tries
}

/** Lets what waits for an earlier event of its object go, where there is none any more; answers of which something is pending. */
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

/** Writes how the endpoint fares; answers whether it is enabled. */
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
  const failed = attempted.filter(({ becomes }) => becomes !== 'delivered')
  const hasSucceeded = failed.length < attempted.length
  const failures = hasSucceeded ? 0 : endpoint.failures + failed.length
  const failingSince = hasSucceeded ? null : (endpoint.failingSince ?? attempted[0]?.attemptedAt ?? null)
  const fares = { ...endpoint, failures, failingSince }
  if (endpoint.status === 'enabled') {
    const reason = isGone ? 'gone' : hasFailedTooLong(context, fares) ? 'failing' : null
    if (reason === null) {
      await storeEndpointProgress(tx, fares)
      return true
    }
    await disableEndpoint(tx, context, { ...fares, disabledReason: reason })
    return false
  }
  if (endpoint.disabledReason !== 'failing') {
    await storeEndpointProgress(tx, fares)
    return false
  }
  // It was tried to see whether it is there again.
  const revived = hasSucceeded ? ({ status: 'enabled', disabledReason: null } as const) : {}
  const probeAt = hasSucceeded ? null : timestamp(context.wallClock() + probeIntervalMs)
  await storeWebhookEndpoint(tx, {
    ...fares,
    ...revived,
    probeAt,
    updatedAt: strictlyLaterUpdatedAt(context, endpoint),
  })
  return hasSucceeded
}

function hasFailedTooLong({ now }: Context, { failures, failingSince }: StoredWebhookEndpoint): boolean {
  return failures >= maxFailures && failingSince !== null && now() - Date.parse(failingSince) >= maxFailingMs
}

/** Its cursor and what is pending stay as they are: enabled again, it goes on from there. */
async function disableEndpoint(tx: Tx, context: Context, endpoint: StoredWebhookEndpoint): Promise<void> {
  const probeAt = endpoint.disabledReason === 'failing' ? timestamp(context.wallClock() + probeIntervalMs) : null
  const updatedAt = strictlyLaterUpdatedAt(context, endpoint)
  const disabled = { ...endpoint, status: 'disabled', probeAt, updatedAt } as const
  await storeWebhookEndpoint(tx, disabled)
  const data = toPublicEndpoint(disabled)
  await recordEvent(tx, context, { type: 'webhook_endpoint.disabled', objectId: endpoint.id, at: updatedAt, data })
}
