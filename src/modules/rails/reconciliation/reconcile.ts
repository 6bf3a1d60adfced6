import { z } from 'zod'
import { instant, optional, parseInput, text } from '../../../core/input.ts'
import type { Service } from '../../../operations/context.ts'
import type { PayoutStatus } from '../../payouts/payout.ts'
import type { RailOrderState, ReportState } from '../../rail-orders/rail-order.ts'
import { railOrdersOfRail } from '../repository.ts'
import type { StatementLine } from './statement-line.ts'
import { normalizeDecimal } from './statement-line.ts'

const ReconcileInput = z.object({ rail: text(64), from: optional(instant()), to: optional(instant()) })

/** Findings that are told of each kind; all are counted. */
const maxFindingsPerKind = 1_000

/** Transfers that are read at a time. */
const batchSize = 100

/** Before every order. */
const minOrderId = '00000000-0000-0000-0000-000000000000'

/** Something in which the bank's statement and our books are not the same. */
export type Finding = {
  readonly finding: 'missing there' | 'missing here' | 'differing'
  readonly payoutId: string | null
  /** Where it stands in the statement. */
  readonly place: string | null
  readonly id: string | null
  readonly reference: string | null
  readonly what: 'payment' | 'amount' | 'currency' | 'state' | 'times paid' | 'times returned'
  readonly ours: string | null
  readonly theirs: string | null
}

/** How a statement compares with our books. `unrelated` is money that came in and is of none of our payouts. */
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
 * Compares what a bank's statement says with our transfers of its rail, of all merchants. Whatever it says must be ours, and as
 * we have it; what we have as paid or returned must be there, where that was between `from` and before `to`. How far a payout
 * was is what was known before `to`: what is returned afterwards stands in a later statement.
 *
 * @param lines read once; of each payment one line is held in memory
 * @throws Refusal INVALID_INPUT, also where a line can't be read
 */
export async function reconcile(
  { db }: Pick<Service, 'db'>,
  input: z.input<typeof ReconcileInput>,
  lines: AsyncIterable<StatementLine>,
): Promise<Reconciliation> {
  const { rail, from, to } = parseInput(ReconcileInput, input)
  const statement = await groupLinesByKey(lines)
  const counts = { matched: 0, missingThere: 0, missingHere: 0, differing: 0, unrelated: 0 }
  const told = new Map<string, Finding[]>()
  const addFindings = (found: readonly Finding[]) => {
    for (const each of found) {
      const known = told.get(each.finding) ?? []
      told.set(each.finding, known)
      if (known.length < maxFindingsPerKind) known.push(each)
    }
  }
  const takeLines = (key: string | null) => {
    const taken = (key !== null && statement.get(paymentKey(key))) || []
    if (key !== null) statement.delete(paymentKey(key))
    return taken
  }
  let after = minOrderId
  for (;;) {
    const ours = await railOrdersOfRail(db, { rail, after, limit: batchSize })
    for (const own of ours) {
      const theirs = [...takeLines(own.orderId), ...takeLines(own.reference)]
      if (theirs.length > 0) {
        const found = findDifferences(own, theirs, to)
        counts[found.length === 0 ? 'matched' : 'differing']++
        addFindings(found)
      } else if (isExpected(own, from, to)) {
        counts.missingThere++
        addFindings([missingThereFinding(own, payoutStatusBefore(own, to))])
      }
    }
    const last = ours.at(-1)
    if (last === undefined) break
    after = last.orderId
  }
  for (const line of [...statement.values()].flat()) {
    counts[line.isIncoming ? 'unrelated' : 'missingHere']++
    if (!line.isIncoming) addFindings([missingHereFinding(line)])
  }
  return { rail, ...counts, findings: [...told.values()].flat() }
}

/** Whether anything is not as it should be. */
export function isReconciled({ missingThere, missingHere, differing }: Reconciliation): boolean {
  return missingThere + missingHere + differing === 0
}

async function groupLinesByKey(lines: AsyncIterable<StatementLine>): Promise<Map<string, StatementLine[]>> {
  const byKey = new Map<string, StatementLine[]>()
  for await (const line of lines) {
    const { id, reference, place } = line
    // What stands where our id should, and is none of ours, says less than what the bank calls it.
    const key = id !== null && isUuid(id) ? paymentKey(id) : paymentKey(reference ?? id ?? `\n${place}`)
    const known = byKey.get(key)
    if (known) known.push(line)
    else byKey.set(key, [line])
  }
  return byKey
}

/** The text by which a payment is found: banks take no more than 35 characters, and a UUID has 36 with its hyphens. */
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
  // No money moves when a person is called.
  ATTENTION: null,
}

/** What became of a payout by then. */
function payoutStatusBefore({ history }: ReconciliationOrder, to: string | null): PayoutStatus {
  const statuses = history
    .filter(({ at }) => to === null || at < to)
    .flatMap(({ state }) => statusByRailOrderState[state as RailOrderState] ?? [])
  return statuses.at(-1) ?? 'PROCESSING'
}

/** Whether the statement must have it: it was paid or returned at that time. */
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

/** The later a state comes, the more it says of what became of it. */
const statesByFinality: readonly ReportState[] = ['RETURNED', 'COMPLETED', 'REJECTED', 'ACCEPTED']

function findDifferences(own: ReconciliationOrder, theirs: readonly StatementLine[], to: string | null): Finding[] {
  const [first] = theirs as [StatementLine]
  const said = statesByFinality.find((state) => theirs.some((line) => line.state === state)) ?? 'ACCEPTED'
  const countLines = (state: ReportState) => theirs.filter((line) => line.state === state).length
  const amount = normalizeDecimal(own.amountFiat)
  const otherAmount = theirs.find((line) => line.amount !== amount)
  const otherCurrency = theirs.find((line) => line.currency !== own.currency)
  const status = payoutStatusBefore(own, to)
  const createDifference = (
    what: Finding['what'],
    ours: string | null,
    theirs: string,
    { place }: StatementLine = first,
  ) => ({
    ...{ finding: 'differing' as const, payoutId: own.payoutId, place },
    ...{ id: own.orderId, reference: own.reference, what, ours, theirs },
  })
  return [
    ...(otherAmount ? [createDifference('amount', amount, otherAmount.amount, otherAmount)] : []),
    ...(otherCurrency ? [createDifference('currency', own.currency, otherCurrency.currency, otherCurrency)] : []),
    ...(statusByReportState[said] === status ? [] : [createDifference('state', status, statusByReportState[said])]),
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
