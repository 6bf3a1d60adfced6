import type { WallTime } from '../../../core/ids-and-clock.ts'
import type { Bank, BankAccountNumber, ResolvedBankAccount } from '../../../operations/bank-directory.ts'
import type { BankReport } from '../../rail-orders/rail-order.ts'

export type PaymentInstruction = {
  /** The payout's `reference_id`, a UUID, in every submission. */
  readonly id: string
  /** The short reference that the recipient may see. */
  readonly transactionId: string
  /** The amount that arrives: a decimal string in `currency`. */
  readonly amount: string
  readonly currency: string
  readonly country: string
  /** The local payment scheme, such as `nip`. */
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
  /** The number of submissions, including this one. */
  readonly attempts: number
  /** The merchant's current time, in milliseconds since 1970. */
  readonly now: number
}

/** Headers that an HTTP rail sends in addition to its own, such as trace context. */
export type CallHeaders = Readonly<Record<string, string>>

/**
 * Carries orders to a bank. If a method throws, or takes longer than `callMs`, the outcome is unknown. The bank may
 * have accepted the order, so the service polls for its state.
 */
export type Rail = {
  readonly name: string
  /** The limit per process. */
  readonly maxConcurrentCalls: number
  readonly callMs: number
  /** Whether a failed call predicts nothing about the next one. If so, the rail has no circuit breaker. */
  readonly hasIndependentFailures?: true
  /** How long after the first submission an id can be submitted again without a second payment. */
  readonly idempotentForMs: number
  /** Asks the bank to pay. Idempotent by the order's id. */
  readonly submit: (order: PaymentInstruction, headers?: CallHeaders) => Promise<BankReport>
  /** Returns the state of the order; `NOT_FOUND` if the bank is certain that it has no such order. */
  readonly find: (order: PaymentInstruction, headers?: CallHeaders) => Promise<BankReport | 'NOT_FOUND'>
  readonly cancel?: (order: PaymentInstruction, headers?: CallHeaders) => Promise<'CANCELLED' | 'TOO_LATE'>
  /** Returns the banks that orders in a currency can go to; for banks with such a list. */
  readonly banks?: (currency: string) => Promise<readonly Bank[] | 'UNSUPPORTED'>
  /** Returns the name of an account; for banks that tell it. */
  readonly resolve?: (account: BankAccountNumber) => Promise<ResolvedBankAccount | 'NOT_FOUND' | 'UNSUPPORTED'>
  /** For banks that report state changes themselves. */
  readonly reports?: {
    /**
     * Verifies that the bank signed the request within the last five minutes.
     *
     * @returns the bank's id of the message; a message that is posted again has the same id
     * @throws DomainError INVALID_TOKEN
     */
    readonly verify: (request: ReportRequest) => string
    /** @throws DomainError INVALID_INPUT with the fields that can't be parsed */
    readonly read: (body: string) => readonly IdentifiedBankReport[]
  }
}

/** A report that a bank posted. Header names are in lower case; the body is unchanged. */
export type ReportRequest = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
  /** Time of arrival, in milliseconds since 1970. */
  readonly now: WallTime
}

/** A report with the id of its order. */
export type IdentifiedBankReport = BankReport & { readonly id: string }

export type RailCallName = 'submit' | 'find' | 'cancel'

type TraceHeaders = Readonly<Record<string, string>>

/** Wraps a call. `call` makes it with the given headers, or else with the caller's. */
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

/** Returns the reported state, or the outcome of a cancellation. */
export function railCallOutcomeOf(result: unknown): string {
  return typeof result === 'string' ? result : (result as { readonly state: string }).state
}
