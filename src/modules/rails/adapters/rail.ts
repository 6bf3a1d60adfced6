import type { WallTime } from '../../../core/ids-and-clock.ts'
import type { BankReport } from '../../rail-orders/rail-order.ts'

/** A payment to make: what a bank is asked for. `id` is the payout's reference, and the same however often it is asked. */
export type PaymentInstruction = {
  /** A UUID: the payout's `reference_id`. */
  readonly id: string
  /** The short reference that the recipient may see. */
  readonly transactionId: string
  /** What arrives, in units of `currency`: a decimal string. */
  readonly amount: string
  readonly currency: string
  readonly country: string
  /** How it is to be carried, such as `nip`. */
  readonly transferType: string
  readonly recipient: {
    readonly name: string
    readonly accountNumber: string
    readonly bankName: string
    readonly bankCode: string
  }
  readonly purpose: string
  readonly narration: string | null
  /** When the payout was made, in ISO 8601. */
  readonly createdAt: string
  /** When it was first submitted, and how many times it has been, this one included. */
  readonly submittedAt: string
  readonly attempts: number
  /** The merchant's time now, in milliseconds since 1970. */
  readonly now: number
}

/** What a rail that asks by HTTP sends beside its own headers: by what the call is known elsewhere. */
export type CallHeaders = Readonly<Record<string, string>>

/**
 * What carries orders to a bank. Whatever a method throws means that nothing is known: the order may have been taken or not,
 * and it is asked what became of it. A method ends within `callMs` or is taken to have failed.
 */
export type Rail = {
  readonly name: string
  /** Calls under way at once, of one process. */
  readonly maxConcurrentCalls: number
  /** The longest that a call takes, in milliseconds. */
  readonly callMs: number
  /** Whether a call that fails says nothing of the next: such a rail is never left alone. */
  readonly hasIndependentFailures?: true
  /** For how long after it was first submitted an order may be submitted again under the same id without being paid twice. */
  readonly idempotentForMs: number
  /** Has the order paid, once however often it is submitted. */
  readonly submit: (order: PaymentInstruction, headers?: CallHeaders) => Promise<BankReport>
  /** What has become of it; `NOT_FOUND` where the bank is sure that it has no such order. */
  readonly find: (order: PaymentInstruction, headers?: CallHeaders) => Promise<BankReport | 'NOT_FOUND'>
  /** Takes the order back, where the bank still can. */
  readonly cancel?: (order: PaymentInstruction, headers?: CallHeaders) => Promise<'CANCELLED' | 'TOO_LATE'>
  /** How the bank reports by itself, where it does. */
  readonly reports?: {
    /**
     * Makes sure that it is the bank who has posted it, and just now.
     *
     * @returns the id that the bank gave it, the same if it is posted again
     * @throws Refusal INVALID_TOKEN
     */
    readonly verify: (posted: ReportRequest) => string
    /** @throws Refusal INVALID_INPUT that says what can not be read */
    readonly read: (body: string) => readonly IdentifiedBankReport[]
  }
}

/** What was posted: its headers in lower case, and its body byte by byte. */
export type ReportRequest = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
  /** When it came, in milliseconds since 1970. */
  readonly now: WallTime
}

/** A report that says which order it is about. */
export type IdentifiedBankReport = BankReport & { readonly id: string }

/** What is asked of a bank about an order. */
export type RailCallName = 'submit' | 'find' | 'cancel'

type TraceHeaders = Readonly<Record<string, string>>

/** Sees a call, which `ask` makes: with `headers`, or without with those that whoever calls gave. */
export type RailCallObserver = <Answer>(
  call: RailCallName,
  order: PaymentInstruction,
  ask: (headers?: TraceHeaders) => Promise<Answer>,
) => Promise<Answer>

/** The same rail, each of whose calls is seen. */
export function observeRail(rail: Rail, see: RailCallObserver): Rail {
  const { cancel } = rail
  return {
    ...rail,
    submit: (order, given) => see('submit', order, (headers = given) => rail.submit(order, headers)),
    find: (order, given) => see('find', order, (headers = given) => rail.find(order, headers)),
    ...(cancel && {
      cancel: (order, given) => see('cancel', order, (headers = given) => cancel(order, headers)),
    }),
  }
}

/** What a bank said, in a word: a state, or what became of a cancellation. */
export function railCallOutcomeOf(answer: unknown): string {
  return typeof answer === 'string' ? answer : (answer as { readonly state: string }).state
}
