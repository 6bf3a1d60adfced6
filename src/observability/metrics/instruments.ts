import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { EventType } from '../../modules/outbox/event.ts'
import type { LoggedAnswer } from '../../server/http/access-log.ts'
import { doorOf } from '../../server/http/access-log.ts'
import type { Recorder } from './recorder.ts'
import type { Metric, Snapshot } from './snapshot.ts'

/** What each name of ours begins with. */
export const prefix = 'payout_gateway_'

/** From an answer out of memory to the 10 seconds after which nothing is begun any more. */
const requestBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const commitBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
/** As many operations as a commit of any engine may have. */
const groupBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256]
/** From at once to the days for which a delivery is tried. */
const delayBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 43_200, 172_800]

/** The instruments of one process, and what they have taken down. */
export type Instruments = { readonly snapshot: () => Promise<Snapshot>; readonly recorder: Recorder }

/**
 * The instruments. Counters are named without the `_total` that `exposed` appends.
 *
 * Their labels have values of closed lists, routes, and names that an operator gave: what callers send makes no series.
 */
export function createInstruments(): Instruments {
  const registry = new Registry()
  const own = { registers: [registry] }
  const counter = <const Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ ...own, name: prefix + name, help, labelNames })
  const histogram = <const Label extends string>(
    name: string,
    { help, buckets, labelNames = [] }: { help: string; buckets: number[]; labelNames?: readonly Label[] },
  ) => new Histogram({ ...own, name: prefix + name, help, buckets, labelNames })

  const answers = histogram('http_request_duration_seconds', {
    help: 'How long requests took to answer.',
    buckets: requestBuckets,
    labelNames: ['door', 'route', 'status'],
  })
  const operations = counter('graphql_operations', 'GraphQL operations; named where the document is trusted.', [
    'operation',
    'name',
  ])
  const refusals = counter('refusals', 'Requests that were refused, by code.', ['code'])
  const created = counter('payouts_created', 'Payouts that were made.')
  const settled = counter('payouts_settled', 'Payouts that were settled, by what became of them.', ['status'])
  const events = counter('events_published', 'Events that were told.')
  const groups = histogram('group_commit_operations', {
    help: 'Operations that shared a commit.',
    buckets: groupBuckets,
  })
  const commits = histogram('commit_seconds', {
    help: 'How long commits took to be durable.',
    buckets: commitBuckets,
  })
  const attempts = counter('webhook_attempts', 'Webhooks that were posted, by what became of the delivery.', [
    'outcome',
  ])
  const delays = histogram('webhook_delay_seconds', {
    help: 'How long after they happened events were delivered.',
    buckets: delayBuckets,
  })
  const calls = counter('rail_calls', 'Calls to banks, by what they said.', ['rail', 'call', 'outcome'])
  // What has not happened yet is zero, so that the first is seen to be one more.
  for (const outcome of ['delivered', 'pending', 'exhausted']) attempts.inc({ outcome }, 0)
  for (const status of Object.values(settledBy)) settled.inc({ status }, 0)
  const recorder: Recorder = {
    answered: (answer, isTrusted) => {
      const kind = kindOf(answer)
      // A stream lasts as long as its caller wants: that says nothing of the service.
      if (kind !== 'subscription') answers.observe(labelsOf(answer), answer.duration_ms / 1_000)
      if (kind !== null) operations.inc({ operation: kind, name: isTrusted ? nameOf(answer) : '' })
      if (answer.code !== null) for (const code of answer.code.split(',')) refusals.inc({ code })
    },
    committed: (group) => {
      groups.observe(group.operations)
      commits.observe(group.seconds)
    },
    happened: (type) => {
      events.inc()
      if (type === 'payout.initiated') created.inc()
      const status = settledBy[type]
      if (status !== undefined) settled.inc({ status })
    },
    attempted: ({ outcome, delayMs }) => {
      attempts.inc({ outcome })
      if (delayMs !== null) delays.observe(delayMs / 1_000)
    },
    railCalled: (call) => calls.inc(call),
  }
  collectDefaultMetrics({ register: registry })
  const snapshot = async () => {
    const metrics = (await registry.getMetricsAsJSON()) as unknown as Snapshot
    return metrics.map((metric) => (isOfEventLoop(metric) ? { ...metric, aggregator: 'max' } : metric))
  }
  return { snapshot, recorder }
}

/** An average over processes, as prom-client has it, would hide the one whose event loop is blocked. */
function isOfEventLoop({ name, aggregator }: Metric): boolean {
  return name.startsWith('nodejs_eventloop_lag_') && aggregator === 'average'
}

function labelsOf({ method, route, status }: LoggedAnswer) {
  return { door: doorOf(route), route: route === null ? '' : `${method} ${route}`, status }
}

const settledBy: { readonly [Type in EventType]?: string } = {
  'payout.completed': 'COMPLETED',
  'payout.failed': 'FAILED',
  'payout.returned': 'RETURNED',
}

/** What a GraphQL request ran: `query`, `mutation` or `subscription`. */
function kindOf({ operation }: LoggedAnswer): string | null {
  return operation === null ? null : (operation.split(' ', 1)[0] as string)
}

function nameOf({ operation }: LoggedAnswer): string {
  return operation?.split(' ')[1] ?? ''
}
