import { describe, expect, test } from 'vitest'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'

describe.each(everyEngine)('createPayout on %s', (engine) => {
  test('moves amount and fee from the wallet in one transfer', async () => {
    const app = await startApp(engine)
    await app.fee('0.5', '1')
    const walletId = await app.wallet({ balance: '100' })

    const { status, body } = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })

    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      sender_wallet_id: walletId,
      amount: '40.00000000',
      fee: '0.90000000',
      balance: '59.10000000',
      exchange_rate: '1500',
      amount_fiat: '60000.00000000',
      status: 'PROCESSING',
    })
    const wallet = await app.rest('GET', `/api/wallets/${walletId}`)
    expect(wallet.body.data.balance).toBe('59.10000000')
    await app.expectBooksToBalance()
  })
})
