import type { BankReport } from '../../../../src/modules/rail-orders/rail-order.ts'
import type { PaymentInstruction, Rail } from '../../../../src/modules/rails/adapters/rail.ts'

/** The fate of a call: it is answered, its response is lost, or its request is lost. */
export type CallFate = 'answered' | 'answer lost' | 'lost'

export function createBank({
  fate = () => 'answered',
  decide = () => ({ state: 'COMPLETED' }),
  ...limits
}: {
  readonly fate?: (call: 'submit' | 'find' | 'cancel', order: PaymentInstruction) => CallFate
  /** The bank's state of a stored order, at any call. */
  readonly decide?: (order: PaymentInstruction) => BankReport
} & Partial<Pick<Rail, 'maxConcurrentCalls' | 'callMs' | 'idempotentForMs' | 'cancel'>> = {}) {
  const taken = new Map<string, PaymentInstruction>()
  const calls: { readonly call: string; readonly id: string }[] = []

  async function runCall<Answer>(
    call: 'submit' | 'find',
    order: PaymentInstruction,
    createResult: () => Answer,
  ): Promise<Answer> {
    calls.push({ call, id: order.id })
    const callFate = fate(call, order)
    if (callFate === 'lost') throw new Error('the connection was refused')
    const result = createResult()
    if (callFate === 'answer lost') throw new Error('the connection was closed')
    return result
  }

  const rail: Rail = {
    name: 'bank',
    maxConcurrentCalls: 4,
    callMs: 1_000,
    idempotentForMs: 24 * 3_600_000,
    ...limits,
    submit: (order) =>
      runCall('submit', order, () => {
        if (!taken.has(order.id)) taken.set(order.id, order)
        return decide(order)
      }),
    find: (order) => runCall('find', order, () => (taken.has(order.id) ? decide(order) : 'NOT_FOUND')),
  }
  return {
    rail,
    calls,
    taken,
    submitted: (id: string) => calls.filter((each) => each.call === 'submit' && each.id === id).length,
  }
}
