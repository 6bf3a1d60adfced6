import type { BankReport } from '../../../../src/modules/rail-orders/rail-order.ts'
import type { PaymentInstruction, Rail } from '../../../../src/modules/rails/adapters/rail.ts'

/** What becomes of a call on its way: it arrives and is answered, the answer is lost, or the call is. */
export type CallFate = 'answered' | 'answer lost' | 'lost'

/** A bank of the test's own, with books: what it was asked, and what it has paid. */
export function createBank({
  fate = () => 'answered',
  decide = () => ({ state: 'COMPLETED' }),
  ...limits
}: {
  readonly fate?: (call: 'submit' | 'find' | 'cancel', order: PaymentInstruction) => CallFate
  /** What it makes of an order that it has taken, whenever it is asked. */
  readonly decide?: (order: PaymentInstruction) => BankReport
} & Partial<Pick<Rail, 'maxConcurrentCalls' | 'callMs' | 'idempotentForMs' | 'cancel'>> = {}) {
  const taken = new Map<string, PaymentInstruction>()
  const calls: { readonly call: string; readonly id: string }[] = []

  async function carry<Answer>(
    call: 'submit' | 'find',
    order: PaymentInstruction,
    answer: () => Answer,
  ): Promise<Answer> {
    calls.push({ call, id: order.id })
    const what = fate(call, order)
    if (what === 'lost') throw new Error('the connection was refused')
    const answered = answer()
    if (what === 'answer lost') throw new Error('the connection was closed')
    return answered
  }

  const rail: Rail = {
    name: 'bank',
    maxConcurrentCalls: 4,
    callMs: 1_000,
    idempotentForMs: 24 * 3_600_000,
    ...limits,
    submit: (order) =>
      carry('submit', order, () => {
        if (!taken.has(order.id)) taken.set(order.id, order)
        return decide(order)
      }),
    find: (order) => carry('find', order, () => (taken.has(order.id) ? decide(order) : 'NOT_FOUND')),
  }
  return {
    rail,
    /** Every call that was made, in order. */
    calls,
    /** Orders that it has, in the order in which they came. */
    taken,
    submitted: (id: string) => calls.filter((each) => each.call === 'submit' && each.id === id).length,
  }
}
