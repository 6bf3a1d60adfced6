import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { CommittedBatch } from '../../database/database.ts'
import type { EventType } from '../../database/tables.ts'
import type { RailCallName } from '../../modules/rails/adapters/observe-rail.ts'
import type { AccessLogEntry } from '../../server/http/request-lifecycle.ts'
import { apiOfRoute } from '../../server/http/request-lifecycle.ts'
import type { Metric, MetricsSnapshot } from './snapshot.ts'
import { metricPrefix } from './snapshot.ts'

/** From an answer out of memory to the 10 seconds after which nothing is begun any more. */
const requestBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const commitBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
/** As many operations as a commit of any engine may have. */
const groupBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256]
/** From at once to the days for which a delivery is tried. */
const delayBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 43_200, 172_800]

/** The instruments of one process, and what they have taken down. */
export type Instruments = { readonly snapshot: () => Promise<MetricsSnapshot>; readonly recorder: MetricsRecorder }

/**
 * The instruments. Counters are named without the `_total` that `exposed` appends.
 *
 * Their labels have values of closed lists, routes, and names that an operator gave: what callers send makes no series.
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

  const answers = createHistogram('http_request_duration_seconds', {
    help: 'How long requests took to answer.',
    buckets: requestBuckets,
    labelNames: ['door', 'route', 'status'],
  })
  const operations = createCounter('graphql_operations', 'GraphQL operations; named where the document is trusted.', [
    'operation',
    'name',
  ])
  const refusals = createCounter('refusals', 'Requests that were refused, by code.', ['code'])
  const created = createCounter('payouts_created', 'Payouts that were made.')
  const settled = createCounter('payouts_settled', 'Payouts that were settled, by what became of them.', ['status'])
  const events = createCounter('events_published', 'Events that were told.')
  const groups = createHistogram('group_commit_operations', {
    help: 'Operations that shared a commit.',
    buckets: groupBuckets,
  })
  const commits = createHistogram('commit_seconds', {
    help: 'How long commits took to be durable.',
    buckets: commitBuckets,
  })
  const attempts = createCounter('webhook_attempts', 'Webhooks that were posted, by what became of the delivery.', [
    'outcome',
  ])
  const delays = createHistogram('webhook_delay_seconds', {
    help: 'How long after they happened events were delivered.',
    buckets: delayBuckets,
  })
  const calls = createCounter('rail_calls', 'Calls to banks, by what they said.', ['rail', 'call', 'outcome'])
  // What has not happened yet is zero, so that the first is seen to be one more.
  for (const outcome of ['delivered', 'pending', 'exhausted']) attempts.inc({ outcome }, 0)
  for (const status of Object.values(statusByEventType)) settled.inc({ status }, 0)
  const recorder: MetricsRecorder = {
    recordResponse: (answer, isTrusted) => {
      const kind = operationKind(answer)
      // A stream lasts as long as its caller wants: that says nothing of the service.
      if (kind !== 'subscription') answers.observe(requestLabels(answer), answer.duration_ms / 1_000)
      if (kind !== null) operations.inc({ operation: kind, name: isTrusted ? operationName(answer) : '' })
      if (answer.code !== null) for (const code of answer.code.split(',')) refusals.inc({ code })
    },
    recordCommit: (group) => {
      groups.observe(group.writes)
      commits.observe(group.seconds)
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

/** An average over processes, as prom-client has it, would hide the one whose event loop is blocked. */
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

/** What a GraphQL request ran: `query`, `mutation` or `subscription`. */
function operationKind({ operation }: AccessLogEntry): string | null {
  return operation === null ? null : (operation.split(' ', 1)[0] as string)
}

function operationName({ operation }: AccessLogEntry): string {
  return operation?.split(' ')[1] ?? ''
}

/** Takes down what the service does, as it is known from outside of its operations. None of it says whose it was. */
export type MetricsRecorder = {
  readonly recordResponse: (answer: AccessLogEntry, isTrusted: boolean) => void
  readonly recordCommit: (group: CommittedBatch) => void
  /** An event that is committed. */
  readonly recordEvent: (type: EventType) => void
  readonly recordAttempt: (attempt: AttemptMeasurement) => void
  readonly recordRailCall: (call: RailCallMeasurement) => void
}

/** What came of posting an event; `delayMs` is how long after it happened it was delivered, `null` where it was not. */
type AttemptMeasurement = {
  readonly outcome: 'delivered' | 'pending' | 'exhausted'
  readonly delayMs: number | null
}

/** A call to a bank; `outcome` is what it said of the order, or that there is no answer. */
type RailCallMeasurement = {
  readonly rail: string
  readonly call: RailCallName
  readonly outcome: string
}
