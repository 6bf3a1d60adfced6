import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sequenceOfTransactionId, transactionId } from '../../../src/modules/payouts/transaction-id.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'

const sequence = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 2_147_483_647 }))

describe('ruling 44: transactionId', () => {
  test('has ten characters, A to Z and 0 to 9, for any merchant and sequence number', () => {
    fc.assert(
      fc.property(fc.uuid(), sequence, (merchantId, number) => {
        expect(transactionId(merchantId, number)).toMatch(/^[A-Z0-9]{10}$/)
      }),
      { numRuns: 2_000 },
    )
  })

  test('never changes for the same merchant and sequence number, because statements show it and lookups use it', () => {
    const ids = [1, 2, 3, 1_000_000, 2 ** 31 - 1].map((number) =>
      transactionId('01980c60-1f2e-7d3c-8b4a-5a00000004d2', number),
    )
    expect(ids).toEqual(['X7TEE0ME0F', '6B5ZZGBEVG', 'FEILKW0FQH', 'JKY8JUEJV6', 'P86JBXIZHX'])
  })

  test('differs between merchants for the same sequence number', () => {
    fc.assert(
      fc.property(fc.uuid({ version: 7 }), fc.uuid({ version: 7 }), (one, other) => {
        fc.pre(one !== other)
        expect(transactionId(one, 1)).not.toBe(transactionId(other, 1))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('sequenceOfTransactionId', () => {
  test('returns the sequence number of a transaction id for any merchant', () => {
    fc.assert(
      fc.property(fc.uuid({ version: 7 }), sequence, (merchantId, number) => {
        expect(sequenceOfTransactionId(merchantId, transactionId(merchantId, number))).toBe(number)
      }),
    )
  })

  test('returns null for texts that are not transaction ids, and for sequence numbers out of range', () => {
    const merchantId = '01980c60-1f2e-7d3c-8b4a-5a00000004d2'
    const [last, next] = [2 ** 31 - 1, 2 ** 31].map((number) => transactionId(merchantId, number)) as [string, string]
    expect(sequenceOfTransactionId(merchantId, last)).toBe(2 ** 31 - 1)
    const invalidIds = [
      ` ${last}`,
      `${last} `,
      `${last}0`,
      `0${last}`,
      last.slice(1),
      last.toLowerCase(),
      last.replace(/.$/, '!'),
      '',
      'abc',
    ]
    for (const text of [next, transactionId(merchantId, 0), ...invalidIds])
      expect([text, sequenceOfTransactionId(merchantId, text)]).toEqual([text, null])
  })
})

describe.each(everyEngine)('transaction_id and reference_id on %s', (engine) => {
  test('are unique among the payouts of a merchant', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '40' })

    const responses = await Promise.all(
      Array.from({ length: 40 }, () =>
        app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } }),
      ),
    )

    const payouts = responses.map(({ body }) => body.data)
    for (const name of ['id', 'transaction_id', 'reference_id']) {
      expect(new Set(payouts.map((payout) => payout[name])).size).toBe(40)
    }
    const expected = payouts.map((_, i) => transactionId(app.merchant.id, i + 1))
    expect(payouts.map(({ transaction_id }) => transaction_id).sort()).toEqual(expected.sort())
  })
})
