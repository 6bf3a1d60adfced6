import { expect, test } from 'vitest'
import type { Transfer } from '../../src/payout-transfers/transfer.ts'
import { createPayout } from '../../src/payouts/create-payout.ts'
import { orderOf } from '../../src/rails/order.ts'
import { startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'

const recipient = { accountNumber: '0690000032', bankName: 'A bank', bankCode: '044', recipientName: 'Ada Obi' }

test.each([
  ['NGN', 'Nigeria', 'nip'],
  ['ZAR', 'South Africa', 'eft'],
] as const)('ruling 41: an order in %s to %s names the local rail %s, whatever was asked for', async (...corridor) => {
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
    const transfer = { orderId: payout.referenceId, submittedAt: null, attempts: 1 } as Transfer
    expect(orderOf(payout, transfer, app.context()).transferType).toBe(rail)
  }
})
