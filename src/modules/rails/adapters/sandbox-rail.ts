import type { TransferReport } from '../../rail-orders/rail-order.ts'
import type { SandboxAccount } from '../../rail-orders/sandbox-accounts.ts'
import { sandboxAccount, sandboxRailName } from '../../rail-orders/sandbox-accounts.ts'
import type { Order, Rail } from './rail.ts'

const [second, hour] = [1_000, 3_600_000]
const day = 24 * hour

type Answer = TransferReport | 'NOT_FOUND'

/** Thrown for a call of which nothing is known. */
const noAnswer = () => new Error('the bank did not answer')

/** What the bank says when it is asked to pay, and when it is asked what became of it, so long after it was first asked. */
type Behaviour = {
  readonly submit: (order: Order, ageMs: number) => TransferReport
  readonly find: (order: Order, ageMs: number) => Answer
}

const rejects = (code: string): Behaviour => always({ state: 'REJECTED', code })

function always(report: TransferReport): Behaviour {
  return { submit: () => report, find: () => report }
}

/** Reports that come one after another; each is told by its time. */
function inOrder(
  first: TransferReport,
  ...later: readonly (readonly [afterMs: number, report: TransferReport])[]
): Behaviour {
  const told = (ageMs: number): TransferReport => {
    const reports = [[0, first] as const, ...later]
    const place = reports.findLastIndex(([afterMs]) => ageMs >= afterMs)
    const next = reports[place + 1]
    const report = reports[place]?.[1] ?? first
    return next ? { ...report, nextAfterMs: next[0] - ageMs } : report
  }
  return { submit: (_, ageMs) => told(ageMs), find: (_, ageMs) => told(ageMs) }
}

const accepted = { state: 'ACCEPTED' } as const
const completed = { state: 'COMPLETED' } as const
const returned = { state: 'RETURNED', code: 'ACCOUNT_CLOSED' } as const

const behaviours: Readonly<Record<SandboxAccount, Behaviour>> = {
  '00': always(completed),
  '01': inOrder(accepted, [hour, completed]),
  '10': rejects('NO_SUCH_ACCOUNT'),
  '11': rejects('ACCOUNT_INACTIVE'),
  '12': rejects('NAME_DIFFERS'),
  '13': rejects('LIMIT_EXCEEDED'),
  '20': inOrder(completed, [day, returned]),
  '30': { submit: unanswered, find: () => completed },
  '31': {
    submit: ({ attempts }) => (attempts === 1 ? unanswered() : completed),
    find: ({ attempts }) => (attempts === 1 ? 'NOT_FOUND' : completed),
  },
  '32': inOrder(accepted, [second, completed], [2 * second, completed]),
  '33': inOrder(accepted, [second, returned], [2 * second, completed]),
  '34': inOrder({ state: 'REJECTED', code: 'NO_SUCH_ACCOUNT' }, [second, completed]),
  '40': {
    submit: (_, ageMs) => (ageMs < hour ? unanswered() : completed),
    find: ({ attempts }, ageMs) => (ageMs < hour ? unanswered() : attempts === 1 ? 'NOT_FOUND' : completed),
  },
}

function unanswered(): never {
  throw noAnswer()
}

/**
 * The bank of the sandbox, which does what the number of the account says. It keeps no books: what it says follows from the
 * order, and from how long ago by the merchant's clock it was first asked.
 */
export const sandboxRail: Rail = {
  name: sandboxRailName,
  // It answers at once, so each is an operation beside the payouts that are accepted, in every commit: with eight there were a
  // quarter fewer of these, with four a sixth.
  callsAtOnce: 2,
  callMs: 10_000,
  failsAlone: true,
  idempotentForMs: 30 * day,
  submit: async (order) => named(order, behaviourOf(order).submit(order, ageOf(order))),
  find: async (order) => {
    const answer = behaviourOf(order).find(order, ageOf(order))
    return answer === 'NOT_FOUND' ? answer : named(order, answer)
  },
}

/** Whoever is sent here by a route and not by an account is paid at once. */
function behaviourOf({ recipient }: Order): Behaviour {
  return behaviours[sandboxAccount(recipient.accountNumber) ?? '00']
}

function ageOf({ now, submittedAt }: Order): number {
  return Math.max(0, now - Date.parse(submittedAt))
}

function named({ id }: Order, report: TransferReport): TransferReport {
  return { ...report, reference: `SANDBOX-${id.slice(-12).toUpperCase()}` }
}
