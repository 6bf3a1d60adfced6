import { describe, expect, test } from 'vitest'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { bearerOptions, tokenFor } from '../client-tokens/support/tokens.ts'

const path = '/api/payouts/fees?amount=50&from_currency=USDC&to_currency=NGN'

describe.each(everyEngine)('the fees of payouts on %s', (engine) => {
  test.each(['AMOUNT', 'BALANCE'] as const)(
    'equal the fee and amounts of the next payout, if the fee is deducted from the %s (ruling 135)',
    async (source) => {
      const app = await startApp(engine)
      await app.wallet({ balance: '100' })
      await app.fee('0.25', '1', source)
      const { body } = await app.rest('GET', path)
      const paid = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '50' } })
      const { fee, amount_fiat, exchange_rate } = paid.body.data
      expect(Number(body.data.fee)).toBe(Number(fee))
      expect(Number(body.data.amount_after_fee)).toBe(Number(amount_fiat))
      expect(body.data.exchangeRate).toBe(Number(exchange_rate))
      expect(body.data).toEqual({
        ...{ amount: '50.00', currency_type: 'FIAT', from_currency: 'USDC', fee: '0.75' },
        ...{ amount_after_fee: source === 'AMOUNT' ? '73875.00' : '75000.00', exchangeRate: 1500 },
        ...{ to_currency: 'NGN', bank_fee: '0.00', market_pair: 'usdcngn' },
      })
    },
  )

  test('can be read without a wallet and with a customer’s token', async () => {
    const app = await startApp(engine)
    const token = await tokenFor(app, await app.customer())
    const { status, body } = await app.rest('GET', path, bearerOptions(token))
    expect([status, body.data.fee, body.data.amount_after_fee]).toEqual([200, '0.00', '75000.00'])
  })

  test('are rejected with 400 for a payout to a crypto address, or if the amount or a currency is missing', async () => {
    const app = await startApp(engine)
    const fieldsOf = async (query: string) => {
      const { status, body } = await app.rest('GET', `/api/payouts/fees?${query}`)
      return [status, body.error.details.fields.map(({ field }: { field: string }) => field)]
    }
    expect(await fieldsOf('amount=50&currency_type=STABLECOIN&from_currency=usdt&network=trc20')).toEqual([
      400,
      ['currency_type', 'to_currency'],
    ])
    expect(await fieldsOf('')).toEqual([400, ['amount', 'from_currency', 'to_currency']])
  })
})
