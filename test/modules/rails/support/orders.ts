import type { PaymentInstruction } from '../../../../src/modules/rails/adapters/rail.ts'

export function sampleOrder(change: Partial<PaymentInstruction> = {}): PaymentInstruction {
  return {
    id: '01980c61-0a1b-7c2d-8e3f-405162738490',
    transactionId: 'ABCD1234',
    amount: '61800.00000000',
    currency: 'NGN',
    country: 'Nigeria',
    transferType: 'nip',
    recipient: { name: 'Ada Obi', accountNumber: '0000014579', bankName: 'First Bank', bankCode: '011' },
    purpose: 'GIFTS',
    narration: null,
    createdAt: '2026-11-23T09:59:00.000Z',
    submittedAt: '2026-11-23T10:00:00.000Z',
    attempts: 1,
    now: Date.parse('2026-11-23T10:00:00.000Z'),
    ...change,
  }
}
