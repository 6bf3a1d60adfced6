import { z } from 'zod'
import { instant, optional, parseInput, text } from '../../../core/input.ts'
import type { Service } from '../../../operations/context.ts'
import type { PayoutStatus } from '../../payouts/payout.ts'
import type { RailOrderState, ReportState } from '../../rail-orders/rail-order.ts'
import { railOrdersOfRail } from '../repository.ts'
import type { StatementLine } from './statement-line.ts'
import { normalizeDecimal } from './statement-line.ts'

const ReconcileInput = z.object({ rail: text(64), from: optional(instant()), to: optional(instant()) })

/** The list of findings of one kind has at most 1,000 entries. The count of findings has no limit. */
const maxFindingsPerKind = 1_000

const batchSize = 100

const minOrderId = '00000000-0000-0000-0000-000000000000'

export type Finding = {
  readonly finding: 'missing there' | 'missing here' | 'differing'
  readonly payoutId: string | null
  readonly place: string | null
  readonly id: string | null
  readonly reference: string | null
  readonly what: 'payment' | 'amount' | 'currency' | 'state' | 'times paid' | 'times returned'
  readonly ours: string | null
  readonly theirs: string | null
}

/** `unrelated` counts statement lines with credits that belong to none of our payouts. */
export type Reconciliation = {
  readonly rail: string
  readonly matched: number
  readonly missingThere: number
  readonly missingHere: number
  readonly differing: number
  readonly unrelated: number
  readonly findings: readonly Finding[]
}

/**
 * Each line of the bank's statement must match an order. Each order that was completed or returned from `from`
 * (inclusive) to `to` (exclusive) must have a line. A change of an order after `to` belongs to a later statement.
 *
 * @param lines all lines are held in memory
 * @throws DomainError INVALID_INPUT, also if a line cannot be parsed
 */
export async function reconcile(
  { db }: Pick<Service, 'db'>,
  input: z.input<typeof ReconcileInput>,
  lines: AsyncIterable<StatementLine>,
): Promise<Reconciliation> {
  const { rail, from, to } = parseInput(ReconcileInput, input)
  const statement = await groupLinesByKey(lines)
  const counts = { matched: 0, missingThere: 0, missingHere: 0, differing: 0, unrelated: 0 }
  const findingsByKind = new Map<string, Finding[]>()
  const addFindings = (findings: readonly Finding[]) => {
    for (const finding of findings) {
      const listed = findingsByKind.get(finding.finding) ?? []
      findingsByKind.set(finding.finding, listed)
      if (listed.length < maxFindingsPerKind) listed.push(finding)
    }
  }
  const takeLines = (key: string | null) => {
    const matching = (key !== null && statement.get(paymentKey(key))) || []
    if (key !== null) statement.delete(paymentKey(key))
    return matching
  }
  let after = minOrderId
  for (;;) {
    const orders = await railOrdersOfRail(db, { rail, after, limit: batchSize })
    for (const order of orders) {
      const theirs = [...takeLines(order.orderId), ...takeLines(order.reference)]
      if (theirs.length > 0) {
        const differences = findDifferences(order, theirs, to)
        counts[differences.length === 0 ? 'matched' : 'differing']++
        addFindings(differences)
      } else if (isExpected(order, from, to)) {
        counts.missingThere++
        addFindings([missingThereFinding(order, payoutStatusBefore(order, to))])
      }
    }
    const last = orders.at(-1)
    if (last === undefined) break
    after = last.orderId
  }
  for (const line of [...statement.values()].flat()) {
    counts[line.isIncoming ? 'unrelated' : 'missingHere']++
    if (!line.isIncoming) addFindings([missingHereFinding(line)])
  }
  return { rail, ...counts, findings: [...findingsByKind.values()].flat() }
}

export function isReconciled({ missingThere, missingHere, differing }: Reconciliation): boolean {
  return missingThere + missingHere + differing === 0
}

async function groupLinesByKey(lines: AsyncIterable<StatementLine>): Promise<Map<string, StatementLine[]>> {
  const byKey = new Map<string, StatementLine[]>()
  for await (const line of lines) {
    const { id, reference, place } = line
    // An id that is not a UUID is not an order id, so the line is grouped by the bank's reference.
    const key = id !== null && isUuid(id) ? paymentKey(id) : paymentKey(reference ?? id ?? `\n${place}`)
    const group = byKey.get(key)
    if (group) group.push(line)
    else byKey.set(key, [line])
  }
  return byKey
}

/** Removes hyphens, because banks allow 35 characters, and a UUID with hyphens has 36. */
function paymentKey(text: string): string {
  return isUuid(text) ? text.replaceAll('-', '').toLowerCase() : text
}

function isUuid(text: string): boolean {
  return /^[\da-f]{32}$/i.test(text.replaceAll('-', ''))
}

type ReconciliationOrder = Awaited<ReturnType<typeof railOrdersOfRail>>[number]

const statusByRailOrderState: { readonly [State in RailOrderState]: PayoutStatus | null } = {
  QUEUED: 'PROCESSING',
  SUBMITTING: 'PROCESSING',
  UNKNOWN: 'PROCESSING',
  ACCEPTED: 'PROCESSING',
  COMPLETED: 'COMPLETED',
  REJECTED: 'FAILED',
  CANCELLED: 'FAILED',
  RETURNED: 'RETURNED',
  // An order in the attention queue keeps its earlier state, because entering the queue moves no money.
  ATTENTION: null,
}

function payoutStatusBefore({ history }: ReconciliationOrder, to: string | null): PayoutStatus {
  const statuses = history
    .filter(({ at }) => to === null || at < to)
    .flatMap(({ state }) => statusByRailOrderState[state as RailOrderState] ?? [])
  return statuses.at(-1) ?? 'PROCESSING'
}

function isExpected({ history }: ReconciliationOrder, from: string | null, to: string | null): boolean {
  return history.some(
    ({ state, at }) =>
      (state === 'COMPLETED' || state === 'RETURNED') && (from === null || at >= from) && (to === null || at < to),
  )
}

const statusByReportState: { readonly [State in ReportState]: PayoutStatus } = {
  ACCEPTED: 'PROCESSING',
  COMPLETED: 'COMPLETED',
  REJECTED: 'FAILED',
  RETURNED: 'RETURNED',
}

/** If the lines of a payment have different states, the first matching state in this list takes precedence. */
const statesByFinality: readonly ReportState[] = ['RETURNED', 'COMPLETED', 'REJECTED', 'ACCEPTED']

function findDifferences(order: ReconciliationOrder, theirs: readonly StatementLine[], to: string | null): Finding[] {
  const [first] = theirs as [StatementLine]
  const reported = statesByFinality.find((state) => theirs.some((line) => line.state === state)) ?? 'ACCEPTED'
  const countLines = (state: ReportState) => theirs.filter((line) => line.state === state).length
  const amount = normalizeDecimal(order.amountFiat)
  const otherAmount = theirs.find((line) => line.amount !== amount)
  const otherCurrency = theirs.find((line) => line.currency !== order.currency)
  const status = payoutStatusBefore(order, to)
  const createDifference = (
    what: Finding['what'],
    ours: string | null,
    theirs: string,
    { place }: StatementLine = first,
  ) => ({
    ...{ finding: 'differing' as const, payoutId: order.payoutId, place },
    ...{ id: order.orderId, reference: order.reference, what, ours, theirs },
  })
  return [
    ...(otherAmount ? [createDifference('amount', amount, otherAmount.amount, otherAmount)] : []),
    ...(otherCurrency ? [createDifference('currency', order.currency, otherCurrency.currency, otherCurrency)] : []),
    ...(statusByReportState[reported] === status
      ? []
      : [createDifference('state', status, statusByReportState[reported])]),
    ...(countLines('COMPLETED') > 1 ? [createDifference('times paid', '1', String(countLines('COMPLETED')))] : []),
    ...(countLines('RETURNED') > 1 ? [createDifference('times returned', '1', String(countLines('RETURNED')))] : []),
  ]
}

function missingThereFinding(
  { payoutId, orderId: id, reference, amountFiat, currency }: ReconciliationOrder,
  status: PayoutStatus,
): Finding {
  const ours = `${normalizeDecimal(amountFiat)} ${currency} ${status}`
  return { finding: 'missing there', payoutId, place: null, id, reference, what: 'payment', ours, theirs: null }
}

function missingHereFinding({ place, id, reference, amount, currency, state }: StatementLine): Finding {
  const theirs = `${amount} ${currency} ${statusByReportState[state]}`
  return { finding: 'missing here', payoutId: null, place, id, reference, what: 'payment', ours: null, theirs }
}
