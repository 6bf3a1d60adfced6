import type { PaymentInstruction, Rail } from './rail.ts'

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
