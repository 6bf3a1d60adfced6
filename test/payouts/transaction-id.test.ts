import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { transactionId } from '../../src/payouts/transaction-id.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'

const sequence = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 2_147_483_647 }))

// Ruling 44.
describe('transactionId', () => {
  test('is ten characters A to Z and 0 to 9, for any merchant and number', () => {
    fc.assert(
      fc.property(fc.uuid(), sequence, (merchantId, number) => {
        expect(transactionId(merchantId, number)).toMatch(/^[A-Z0-9]{10}$/)
      }),
      { numRuns: 2_000 },
    )
  })

  test('differs for two numbers of one merchant', () => {
    fc.assert(
      fc.property(fc.uuid(), sequence, sequence, (merchantId, one, other) => {
        fc.pre(one !== other)
        expect(transactionId(merchantId, one)).not.toBe(transactionId(merchantId, other))
      }),
      { numRuns: 5_000 },
    )
  })

  test('differs for all of a merchant’s first numbers, whoever it is', () => {
    fc.assert(
      fc.property(fc.uuid(), (merchantId) => {
        const ids = Array.from({ length: 2_000 }, (_, i) => transactionId(merchantId, i + 1))
        expect(new Set(ids).size).toBe(2_000)
      }),
      { numRuns: 10 },
    )
  })

  test('has a step that can be undone modulo 36¹⁰, which is why it never repeats', () => {
    fc.assert(
      fc.property(fc.uuid(), (merchantId) => {
        const count = 36n ** 10n
        const step = (value(transactionId(merchantId, 2)) - value(transactionId(merchantId, 1)) + count) % count
        expect(greatestCommonDivisor(step, count)).toBe(1n)
      }),
      { numRuns: 2_000 },
    )
  })

  test('gives two merchants different references, and neither a count', () => {
    fc.assert(
      fc.property(fc.uuid({ version: 7 }), fc.uuid({ version: 7 }), (one, other) => {
        fc.pre(one !== other)
        expect(transactionId(one, 1)).not.toBe(transactionId(other, 1))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe.each(everyEngine)('transaction_id and reference_id on %s', (engine) => {
  test('are unique among the payouts of a merchant', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '200' })

    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } }),
      ),
    )

    const payouts = answers.map(({ body }) => body.data)
    for (const name of ['id', 'transaction_id', 'reference_id']) {
      expect(new Set(payouts.map((payout) => payout[name])).size).toBe(200)
    }
    const expected = payouts.map((_, i) => transactionId(app.merchant.id, i + 1))
    expect(payouts.map(({ transaction_id }) => transaction_id).sort()).toEqual(expected.sort())
  })
})

function value(text: string): bigint {
  return [...text].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)
}

function greatestCommonDivisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : greatestCommonDivisor(other, one % other)
}
