import { describe, expect, test } from 'vitest'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { readStoredRows } from '../../support/stored.ts'

const path = '/api/payouts/banks'

describe.each(everyEngine)('ruling 38: the wallet that createPayout debits on %s', (engine) => {
  test('is the owner’s oldest wallet in the currency that covers amount and fee', async () => {
    const app = await startApp(engine)
    await app.fee('1')
    const oldest = await app.wallet({ balance: '40' })
    const second = await app.wallet({ balance: '41' })
    const third = await app.wallet({ balance: '500' })

    const pay = async (amount: string) => {
      const { body } = await app.rest('POST', path, { body: { ...payoutBody, amount } })
      return [body.data.sender_wallet_id, body.data.balance]
    }

    // The oldest lacks the fee, the second covers it exactly.
    expect(await pay('40')).toEqual([second, '0.00000000'])
    expect(await pay('40')).toEqual([third, '459.00000000'])
    expect(await pay('39')).toEqual([oldest, '0.00000000'])
    expect(await pay('1')).toEqual([third, '457.00000000'])
    await app.expectBooksToBalance()
  })

  test('is not chosen if no single wallet covers the total; the error has the balance of the owner’s oldest wallet', async () => {
    const app = await startApp(engine)
    await app.fee('0.25')
    await app.wallet({ balance: '30' })
    await app.wallet({ balance: '39' })
    const before = await readStoredRows(app)

    const { status, body } = await app.rest('POST', path, { body: payoutBody })

    expect(status).toBe(422)
    expect(body.error).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      message: 'The wallet holds 30.00000000 USDC, and the payout with its fee takes 40.25000000.',
      details: { available: '30.00000000', required: '40.25000000' },
    })
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('is never a wallet in another currency or of another owner', async () => {
    const app = await startApp(engine)
    const [customerId, otherId] = [await app.customer(), await app.customer()]
    const other = await app.otherMerchant()
    const usdt = await app.wallet({ assetCode: 'USDT', balance: '1000' })
    const otherCustomers = await app.wallet({ balance: '1000', customerId: otherId })
    const before = await readStoredRows(app)

    const rejected = [
      await app.rest('POST', path, { body: payoutBody }),
      await app.rest('POST', path, { body: { ...payoutBody, customer_id: customerId } }),
      await app.rest('POST', path, { body: { ...payoutBody, customer_id: otherId, currency: 'USDT' } }),
      await app.rest('POST', path, { body: payoutBody, key: other.apiKey }),
    ]

    expect(rejected.map(({ status, body }) => [status, body.error.code])).toEqual(
      rejected.map(() => [422, 'WALLET_NOT_FOUND']),
    )
    expect(await readStoredRows(app)).toEqual(before)

    const created = [
      await app.rest('POST', path, { body: { ...payoutBody, currency: 'USDT' } }),
      await app.rest('POST', path, { body: { ...payoutBody, customer_id: otherId } }),
    ]
    expect(created.map(({ body }) => body.data.sender_wallet_id)).toEqual([usdt, otherCustomers])
  })

  test('is never a fiat wallet', async () => {
    const app = await startApp(engine)
    await app.wallet({ assetCode: 'NGN', balance: '1000000' })
    const { body } = await app.rest('POST', path, { body: payoutBody })
    const message = 'There is no active USDC wallet to pay from.'
    expect(body.error).toEqual({ code: 'WALLET_NOT_FOUND', message })
  })
})
