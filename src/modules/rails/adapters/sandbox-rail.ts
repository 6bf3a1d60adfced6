import type { BankReport } from '../../rail-orders/rail-order.ts'
import type { SandboxAccount } from '../../rail-orders/sandbox-accounts.ts'
import { parseSandboxAccount, sandboxRailName } from '../../rail-orders/sandbox-accounts.ts'
import type { PaymentInstruction, Rail } from './rail.ts'

const [second, hour] = [1_000, 3_600_000]
const day = 24 * hour

type SandboxFindResult = BankReport | 'NOT_FOUND'

const noAnswerError = () => new Error('the bank did not respond')

/** `ageMs` is the time since the order's first submission. */
type SandboxBehaviour = {
  readonly submit: (order: PaymentInstruction, ageMs: number) => BankReport
  readonly find: (order: PaymentInstruction, ageMs: number) => SandboxFindResult
}

const rejectWith = (code: string): SandboxBehaviour => alwaysReport({ state: 'REJECTED', code })

function alwaysReport(report: BankReport): SandboxBehaviour {
  return { submit: () => report, find: () => report }
}

function reportSequence(
  first: BankReport,
  ...later: readonly (readonly [afterMs: number, report: BankReport])[]
): SandboxBehaviour {
  const reportAt = (ageMs: number): BankReport => {
    const reports = [[0, first] as const, ...later]
    const current = reports.findLastIndex(([afterMs]) => ageMs >= afterMs)
    const next = reports[current + 1]
    const report = reports[current]?.[1] ?? first
    return next ? { ...report, nextAfterMs: next[0] - ageMs } : report
  }
  return { submit: (_, ageMs) => reportAt(ageMs), find: (_, ageMs) => reportAt(ageMs) }
}

const acceptedReport = { state: 'ACCEPTED' } as const
const completedReport = { state: 'COMPLETED' } as const
const returnedReport = { state: 'RETURNED', code: 'ACCOUNT_CLOSED' } as const

const behaviours: Readonly<Record<SandboxAccount, SandboxBehaviour>> = {
  '00': alwaysReport(completedReport),
  '01': reportSequence(acceptedReport, [hour, completedReport]),
  '10': rejectWith('NO_SUCH_ACCOUNT'),
  '11': rejectWith('ACCOUNT_INACTIVE'),
  '12': rejectWith('NAME_DIFFERS'),
  '13': rejectWith('LIMIT_EXCEEDED'),
  '20': reportSequence(completedReport, [day, returnedReport]),
  '30': { submit: throwNoAnswer, find: () => completedReport },
  '31': {
    submit: ({ attempts }) => (attempts === 1 ? throwNoAnswer() : completedReport),
    find: ({ attempts }) => (attempts === 1 ? 'NOT_FOUND' : completedReport),
  },
  '32': reportSequence(acceptedReport, [second, completedReport], [2 * second, completedReport]),
  '33': reportSequence(acceptedReport, [second, returnedReport], [2 * second, completedReport]),
  '34': reportSequence({ state: 'REJECTED', code: 'NO_SUCH_ACCOUNT' }, [second, completedReport]),
  '40': {
    submit: (_, ageMs) => (ageMs < hour ? throwNoAnswer() : completedReport),
    find: ({ attempts }, ageMs) => (ageMs < hour ? throwNoAnswer() : attempts === 1 ? 'NOT_FOUND' : completedReport),
  },
}

function throwNoAnswer(): never {
  throw noAnswerError()
}

const banks = [
  { currency: 'NGN', bankCode: '044', bankName: 'Access Bank' },
  { currency: 'NGN', bankCode: '011', bankName: 'First Bank of Nigeria' },
  { currency: 'NGN', bankCode: '058', bankName: 'Guaranty Trust Bank' },
  { currency: 'NGN', bankCode: '057', bankName: 'Zenith Bank' },
  { currency: 'ZAR', bankCode: '470010', bankName: 'Capitec Bank' },
  { currency: 'ZAR', bankCode: '250655', bankName: 'First National Bank' },
] as const

/** The sandbox rail's responses depend only on the order and on the time since the order's first submission. */
export const sandboxRail: Rail = {
  name: sandboxRailName,
  // Calls to the sandbox rail compete with new payouts for commits, so a higher limit lowers payout throughput.
  maxConcurrentCalls: 2,
  callMs: 10_000,
  hasIndependentFailures: true,
  idempotentForMs: 30 * day,
  submit: async (order) => withReference(order, behaviourOf(order).submit(order, ageOf(order))),
  find: async (order) => {
    const result = behaviourOf(order).find(order, ageOf(order))
    return result === 'NOT_FOUND' ? result : withReference(order, result)
  },
  banks: async (currency) => banks.filter((bank) => bank.currency === currency),
  resolve: async ({ accountNumber, bankCode }) => {
    const isKnown = banks.some((bank) => bank.bankCode === bankCode) && parseSandboxAccount(accountNumber) !== '10'
    return isKnown ? { accountNumber, bankCode, accountName: 'ADA OBI' } : 'NOT_FOUND'
  },
}

/**
 * A route can send accounts that are not sandbox accounts to the sandbox rail, which pays these accounts immediately.
 */
function behaviourOf({ recipient }: PaymentInstruction): SandboxBehaviour {
  return behaviours[parseSandboxAccount(recipient.accountNumber) ?? '00']
}

function ageOf({ now, submittedAt }: PaymentInstruction): number {
  return Math.max(0, now - Date.parse(submittedAt))
}

function withReference({ id }: PaymentInstruction, report: BankReport): BankReport {
  return { ...report, reference: `SANDBOX-${id.slice(-12).toUpperCase()}` }
}
