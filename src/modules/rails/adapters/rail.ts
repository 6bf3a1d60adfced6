import type { WallTime } from '../../../core/ids-and-clock.ts'
import type { Bank, BankAccountNumber, ResolvedBankAccount } from '../../../operations/bank-directory.ts'
import type { BankReport } from '../../rail-orders/rail-order.ts'

export type PaymentInstruction = {
  /** The payout's `reference_id`, a UUID. All submissions of a payout to the bank have the same id. */
  readonly id: string
  readonly transactionId: string
  /** The amount that the recipient receives, in `currency`. */
  readonly amount: string
  readonly currency: string
  readonly country: string
  /** For example `nip`. */
  readonly transferType: string
  readonly recipient: {
    readonly name: string
    readonly accountNumber: string
    readonly bankName: string
    readonly bankCode: string
  }
  readonly purpose: string
  readonly narration: string | null
  readonly createdAt: string
  readonly submittedAt: string
  /** The number of submissions of the order, including the current submission. */
  readonly attempts: number
  readonly now: number
}

export type CallHeaders = Readonly<Record<string, string>>

/**
 * If a rail's method throws or takes longer than `callMs`, the outcome is unknown, and the service polls for the
 * order's state.
 */
export type Rail = {
  readonly name: string
  readonly maxConcurrentCalls: number
  readonly callMs: number
  /**
   * If `hasIndependentFailures` is true, the rail has no circuit breaker, because a failed call does not predict the
   * outcome of the next call.
   */
  readonly hasIndependentFailures?: true
  /** Within this time after the first submission, submitting the order again causes no second payment. */
  readonly idempotentForMs: number
  /** A second submission with the same order id must not cause a second payment. */
  readonly submit: (order: PaymentInstruction, headers?: CallHeaders) => Promise<BankReport>
  /** Returns the order's state, or `NOT_FOUND` if the bank is certain that it has no such order. */
  readonly find: (order: PaymentInstruction, headers?: CallHeaders) => Promise<BankReport | 'NOT_FOUND'>
  readonly cancel?: (order: PaymentInstruction, headers?: CallHeaders) => Promise<'CANCELLED' | 'TOO_LATE'>
  readonly banks?: (currency: string) => Promise<readonly Bank[] | 'UNSUPPORTED'>
  readonly resolve?: (account: BankAccountNumber) => Promise<ResolvedBankAccount | 'NOT_FOUND' | 'UNSUPPORTED'>
  readonly reports?: {
    /**
     * Rejects signatures that are older than five minutes.
     *
     * @returns the bank's id of the message; a repeated message has the same id
     * @throws DomainError INVALID_TOKEN
     */
    readonly verify: (request: ReportRequest) => string
    /** @throws DomainError INVALID_INPUT with the fields that cannot be parsed */
    readonly read: (body: string) => readonly IdentifiedBankReport[]
  }
}

/** Header names are in lower case; the body is unparsed. */
export type ReportRequest = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
  readonly now: WallTime
}

export type IdentifiedBankReport = BankReport & { readonly id: string }

export type RailCallName = 'submit' | 'find' | 'cancel'

type TraceHeaders = Readonly<Record<string, string>>

export type RailCallObserver = <Result>(
  name: RailCallName,
  order: PaymentInstruction,
  call: (headers?: TraceHeaders) => Promise<Result>,
) => Promise<Result>

export function observeRail(rail: Rail, observe: RailCallObserver): Rail {
  const { cancel } = rail
  return {
    ...rail,
    submit: (order, callerHeaders) =>
      observe('submit', order, (headers = callerHeaders) => rail.submit(order, headers)),
    find: (order, callerHeaders) => observe('find', order, (headers = callerHeaders) => rail.find(order, headers)),
    ...(cancel && {
      cancel: (order, callerHeaders) => observe('cancel', order, (headers = callerHeaders) => cancel(order, headers)),
    }),
  }
}

export function railCallOutcomeOf(result: unknown): string {
  return typeof result === 'string' ? result : (result as { readonly state: string }).state
}
