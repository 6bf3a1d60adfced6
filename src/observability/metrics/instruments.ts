import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { CommittedBatch } from '../../database/database.ts'
import type { EventType } from '../../database/tables.ts'
import type { RailCallName } from '../../modules/rails/adapters/rail.ts'
import type { AccessLogEntry } from '../../server/http/request-lifecycle.ts'
import { apiOfRoute } from '../../server/http/request-lifecycle.ts'
import type { Metric, MetricsSnapshot } from './snapshot.ts'
import { metricPrefix } from './snapshot.ts'

const requestBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const commitBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const batchBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const delayBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 43_200, 172_800]

export type Instruments = { readonly snapshot: () => Promise<MetricsSnapshot>; readonly recorder: MetricsRecorder }

/**
 * `createExposition` appends `_total` to the names of counters. No label value comes from a caller, so the number of
 * time series is limited.
 */
export function createInstruments(): Instruments {
  const registry = new Registry()
  const own = { registers: [registry] }
  const createCounter = <const Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ ...own, name: metricPrefix + name, help, labelNames })
  const createHistogram = <const Label extends string>(
    name: string,
    { help, buckets, labelNames = [] }: { help: string; buckets: number[]; labelNames?: readonly Label[] },
  ) => new Histogram({ ...own, name: metricPrefix + name, help, buckets, labelNames })

  const requests = createHistogram('http_request_duration_seconds', {
    help: 'Time from a request to its response.',
    buckets: requestBuckets,
    labelNames: ['door', 'route', 'status'],
  })
  const operations = createCounter(
    'graphql_operations',
    'GraphQL operations, with the name if the document is trusted.',
    ['operation', 'name'],
  )
  const errors = createCounter('refusals', 'Requests that failed, by error code.', ['code'])
  const created = createCounter('payouts_created', 'Payouts that were created.')
  const settled = createCounter('payouts_settled', 'Payouts that were settled, by status.', ['status'])
  const events = createCounter('events_published', 'Events that were recorded.')
  const batches = createHistogram('group_commit_operations', {
    help: 'Operations per commit.',
    buckets: batchBuckets,
  })
  const commits = createHistogram('commit_seconds', {
    help: 'Time until a commit was durable.',
    buckets: commitBuckets,
  })
  const attempts = createCounter('webhook_attempts', 'Webhook delivery attempts, by outcome.', ['outcome'])
  const delays = createHistogram('webhook_delay_seconds', {
    help: 'Time from an event to its delivery.',
    buckets: delayBuckets,
  })
  const calls = createCounter('rail_calls', 'Calls to banks, by outcome.', ['rail', 'call', 'outcome'])
  // Starts each time series at zero, so that `increase()` counts the first event.
  for (const outcome of ['delivered', 'pending', 'exhausted']) attempts.inc({ outcome }, 0)
  for (const status of Object.values(statusByEventType)) settled.inc({ status }, 0)
  const recorder: MetricsRecorder = {
    recordResponse: (answer, isTrusted) => {
      const kind = operationKind(answer)
      if (kind !== 'subscription') requests.observe(requestLabels(answer), answer.duration_ms / 1_000)
      if (kind !== null) operations.inc({ operation: kind, name: isTrusted ? operationName(answer) : '' })
      if (answer.code !== null) for (const code of answer.code.split(',')) errors.inc({ code })
    },
    recordCommit: ({ writes, seconds }) => {
      batches.observe(writes)
      commits.observe(seconds)
    },
    recordEvent: (type) => {
      events.inc()
      if (type === 'payout.initiated') created.inc()
      const status = statusByEventType[type]
      if (status !== undefined) settled.inc({ status })
    },
    recordAttempt: ({ outcome, delayMs }) => {
      attempts.inc({ outcome })
      if (delayMs !== null) delays.observe(delayMs / 1_000)
    },
    recordRailCall: (call) => calls.inc(call),
  }
  collectDefaultMetrics({ register: registry })
  const takeSnapshot = async () => {
    const metrics = (await registry.getMetricsAsJSON()) as unknown as MetricsSnapshot
    return metrics.map((metric) => (isEventLoopLag(metric) ? { ...metric, aggregator: 'max' } : metric))
  }
  return { snapshot: takeSnapshot, recorder }
}

/** An average over all processes would hide a process whose event loop is blocked. */
function isEventLoopLag({ name, aggregator }: Metric): boolean {
  return name.startsWith('nodejs_eventloop_lag_') && aggregator === 'average'
}

function requestLabels({ method, route, status }: AccessLogEntry) {
  return { door: apiOfRoute(route), route: route === null ? '' : `${method} ${route}`, status }
}

const statusByEventType: { readonly [Type in EventType]?: string } = {
  'payout.completed': 'COMPLETED',
  'payout.failed': 'FAILED',
  'payout.returned': 'RETURNED',
}

function operationKind({ operation }: AccessLogEntry): string | null {
  return operation === null ? null : (operation.split(' ', 1)[0] as string)
}

function operationName({ operation }: AccessLogEntry): string {
  return operation?.split(' ')[1] ?? ''
}

export type MetricsRecorder = {
  readonly recordResponse: (answer: AccessLogEntry, isTrusted: boolean) => void
  readonly recordCommit: (batch: CommittedBatch) => void
  readonly recordEvent: (type: EventType) => void
  readonly recordAttempt: (attempt: AttemptMeasurement) => void
  readonly recordRailCall: (call: RailCallMeasurement) => void
}

type AttemptMeasurement = {
  readonly outcome: 'delivered' | 'pending' | 'exhausted'
  readonly delayMs: number | null
}

/** `outcome` is the order state that the bank reported, or `NO_ANSWER`. */
type RailCallMeasurement = {
  readonly rail: string
  readonly call: RailCallName
  readonly outcome: string
}
