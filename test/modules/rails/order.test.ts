import { expect, test } from 'vitest'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import type { RailOrder } from '../../../src/modules/rail-orders/rail-order.ts'
import { createPaymentInstruction } from '../../../src/modules/rails/orders/claim-order.ts'
import { startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'

const recipient = { accountNumber: '0690000032', bankName: 'A bank', bankCode: '044', recipientName: 'Ada Obi' }

test.each([
  ['NGN', 'Nigeria', 'nip'],
  ['ZAR', 'South Africa', 'eft'],
] as const)(
  'ruling 41: a payment instruction in %s to %s has the transfer type %s for every requested type',
  async (...corridor) => {
    const [recipientCurrency, recipientCountry, rail] = corridor
    const app = await startApp('sqlite')
    await app.wallet({ balance: '100' })
    for (const transferType of [null, 'ach', 'fed_wire', 'swift'] as const) {
      const input = {
        ...recipient,
        recipientCurrency,
        recipientCountry,
        assetCode: 'USDC',
        amount: '1',
        transferType,
      } as const
      const payout = await perform(createPayout, app.context(), input)
      expect(payout.transferType).toBe(transferType ?? 'ach')
      const transfer = { orderId: payout.referenceId, submittedAt: null, attempts: 1 } as RailOrder
      expect(createPaymentInstruction(payout, transfer, app.context()).transferType).toBe(rail)
    }
  },
)

test('a payment instruction has the fields of its payout, and the current time of the merchant’s clock', async () => {
  const app = await startApp('sqlite', { clock: () => Date.parse('2026-03-01T12:00:00.000Z') })
  await app.wallet({ balance: '100' })
  const corridor = { recipientCurrency: 'NGN', recipientCountry: 'Nigeria' } as const
  const optionalFields = { paymentPurpose: 'GIFTS', narration: 'for the roof' } as const
  const input = { ...recipient, ...corridor, ...optionalFields, assetCode: 'USDC', amount: '2' } as const
  const payout = await perform(createPayout, app.context(), input)
  const order = {
    id: payout.referenceId,
    transactionId: payout.transactionId,
    amount: '3000.00000000',
    currency: 'NGN',
    country: 'Nigeria',
    transferType: 'nip',
    recipient: { name: 'Ada Obi', accountNumber: '0690000032', bankName: 'A bank', bankCode: '044' },
    purpose: 'GIFTS',
    narration: 'for the roof',
    createdAt: '2026-03-01T12:00:00.000Z',
    now: Date.parse('2026-03-01T12:00:00.000Z'),
  }
  const orderAfter = (attempts: number, submittedAt: string | null) =>
    createPaymentInstruction(payout, { orderId: payout.referenceId, submittedAt, attempts } as RailOrder, app.context())
  expect(orderAfter(1, null)).toEqual({ ...order, submittedAt: order.createdAt, attempts: 1 })
  const submittedAt = '2026-03-01T13:00:00.000Z'
  expect(orderAfter(2, submittedAt)).toEqual({ ...order, submittedAt, attempts: 2 })
})
