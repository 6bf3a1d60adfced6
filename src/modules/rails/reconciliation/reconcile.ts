import { z } from 'zod'
import { instant, optional, parse, text } from '../../../core/input.ts'
import type { Service } from '../../../operations/context.ts'
import type { PayoutStatus } from '../../payouts/payout.ts'
import type { ReportState, TransferState } from '../../rail-orders/rail-order.ts'
import { transfersOfRail } from '../repository.ts'
import type { StatementLine } from './statement.ts'
import { plainDecimal } from './statement.ts'

const ReconcileInput = z.object({ rail: text(64), from: optional(instant()), to: optional(instant()) })

/** Findings that are told of each kind; all are counted. */
const mostTold = 1_000

/** Transfers that are read at a time. */
const batch = 100

/** Before every order. */
const noOrder = '00000000-0000-0000-0000-000000000000'

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
  const { rail, from, to } = parse(ReconcileInput, input)
  const statement = await linesByKey(lines)
  const counts = { matched: 0, missingThere: 0, missingHere: 0, differing: 0, unrelated: 0 }
  const told = new Map<string, Finding[]>()
  const tell = (found: readonly Finding[]) => {
    for (const each of found) {
      const known = told.get(each.finding) ?? []
      told.set(each.finding, known)
      if (known.length < mostTold) known.push(each)
    }
  }
  const take = (key: string | null) => {
    const taken = (key !== null && statement.get(keyOf(key))) || []
    if (key !== null) statement.delete(keyOf(key))
    return taken
  }
  let after = noOrder
  for (;;) {
    const ours = await transfersOfRail(db, { rail, after, limit: batch })
    for (const own of ours) {
      const theirs = [...take(own.orderId), ...take(own.reference)]
      if (theirs.length > 0) {
        const found = differencesOf(own, theirs, to)
        counts[found.length === 0 ? 'matched' : 'differing']++
        tell(found)
      } else if (isExpected(own, from, to)) {
        counts.missingThere++
        tell([missingThere(own, statusBefore(own, to))])
      }
    }
    const last = ours.at(-1)
    if (last === undefined) break
    after = last.orderId
  }
  for (const line of [...statement.values()].flat()) {
    counts[line.isIncoming ? 'unrelated' : 'missingHere']++
    if (!line.isIncoming) tell([missingHere(line)])
  }
  return { rail, ...counts, findings: [...told.values()].flat() }
}

/** Whether anything is not as it should be. */
export function isReconciled({ missingThere, missingHere, differing }: Reconciliation): boolean {
  return missingThere + missingHere + differing === 0
}

async function linesByKey(lines: AsyncIterable<StatementLine>): Promise<Map<string, StatementLine[]>> {
  const byKey = new Map<string, StatementLine[]>()
  for await (const line of lines) {
    const { id, reference, place } = line
    // What stands where our id should, and is none of ours, says less than what the bank calls it.
    const key = id !== null && isUuid(id) ? keyOf(id) : keyOf(reference ?? id ?? `\n${place}`)
    const known = byKey.get(key)
    if (known) known.push(line)
    else byKey.set(key, [line])
  }
  return byKey
}

/** The text by which a payment is found: banks take no more than 35 characters, and a UUID has 36 with its hyphens. */
function keyOf(text: string): string {
  return isUuid(text) ? text.replaceAll('-', '').toLowerCase() : text
}

function isUuid(text: string): boolean {
  return /^[\da-f]{32}$/i.test(text.replaceAll('-', ''))
}

type Own = Awaited<ReturnType<typeof transfersOfRail>>[number]

const statusOfState: { readonly [State in TransferState]: PayoutStatus | null } = {
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
function statusBefore({ history }: Own, to: string | null): PayoutStatus {
  const statuses = history
    .filter(({ at }) => to === null || at < to)
    .flatMap(({ state }) => statusOfState[state as TransferState] ?? [])
  return statuses.at(-1) ?? 'PROCESSING'
}

/** Whether the statement must have it: it was paid or returned at that time. */
function isExpected({ history }: Own, from: string | null, to: string | null): boolean {
  return history.some(
    ({ state, at }) =>
      (state === 'COMPLETED' || state === 'RETURNED') && (from === null || at >= from) && (to === null || at < to),
  )
}

const statusOfReport: { readonly [State in ReportState]: PayoutStatus } = {
  ACCEPTED: 'PROCESSING',
  COMPLETED: 'COMPLETED',
  REJECTED: 'FAILED',
  RETURNED: 'RETURNED',
}

/** The later a state comes, the more it says of what became of it. */
const decisive: readonly ReportState[] = ['RETURNED', 'COMPLETED', 'REJECTED', 'ACCEPTED']

function differencesOf(own: Own, theirs: readonly StatementLine[], to: string | null): Finding[] {
  const [first] = theirs as [StatementLine]
  const said = decisive.find((state) => theirs.some((line) => line.state === state)) ?? 'ACCEPTED'
  const times = (state: ReportState) => theirs.filter((line) => line.state === state).length
  const amount = plainDecimal(own.amountFiat)
  const otherAmount = theirs.find((line) => line.amount !== amount)
  const otherCurrency = theirs.find((line) => line.currency !== own.currency)
  const status = statusBefore(own, to)
  const differing = (what: Finding['what'], ours: string | null, theirs: string, { place }: StatementLine = first) => ({
    ...{ finding: 'differing' as const, payoutId: own.payoutId, place },
    ...{ id: own.orderId, reference: own.reference, what, ours, theirs },
  })
  return [
    ...(otherAmount ? [differing('amount', amount, otherAmount.amount, otherAmount)] : []),
    ...(otherCurrency ? [differing('currency', own.currency, otherCurrency.currency, otherCurrency)] : []),
    ...(statusOfReport[said] === status ? [] : [differing('state', status, statusOfReport[said])]),
    ...(times('COMPLETED') > 1 ? [differing('times paid', '1', String(times('COMPLETED')))] : []),
    ...(times('RETURNED') > 1 ? [differing('times returned', '1', String(times('RETURNED')))] : []),
  ]
}

function missingThere({ payoutId, orderId: id, reference, amountFiat, currency }: Own, status: PayoutStatus): Finding {
  const ours = `${plainDecimal(amountFiat)} ${currency} ${status}`
  return { finding: 'missing there', payoutId, place: null, id, reference, what: 'payment', ours, theirs: null }
}

function missingHere({ place, id, reference, amount, currency, state }: StatementLine): Finding {
  const theirs = `${amount} ${currency} ${statusOfReport[state]}`
  return { finding: 'missing here', payoutId: null, place, id, reference, what: 'payment', ours: null, theirs }
}
