import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { formatAmount } from '../../../src/core/money/amount.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { getPayoutQuote } from '../../../src/modules/payouts/get-payout-quote.ts'
import { setRate } from '../../../src/modules/pricing/rates.ts'
import { apiClients, everyApi } from '../../support/api-clients.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { readStoredRows } from '../../support/stored.ts'
import { nigerian } from './payout-places.ts'

const payout = { assetCode: 'USDC', ...nigerian, paymentPurpose: 'GIFTS' } as const

describe.each(everyEngine)(
  'ruling 47: a payout below the smallest unit of the recipient’s currency on %s',
  (engine) => {
    test.each(everyApi)(
      'ruling 47: %s rejects a payout below the smallest unit of the recipient’s currency, and moves no money',
      async (api) => {
        const app = await startApp(engine)
        await app.fee('0.5')
        await app.wallet({ balance: '100' })
        const before = await readStoredRows(app)

        const rejected = await apiClients[api].createPayout(app, { ...payout, amount: '0.00000666' })
        expect(rejected.refusal).toEqual({ code: 'INVALID_INPUT', fields: ['amount'] })
        const { details } = await domainErrorOf(() =>
          getPayoutQuote(app.context(), { ...payout, amount: '0.00000666' }),
        )
        const message = 'is worth less than 0.01 NGN, so nothing would arrive'
        expect(details.fields).toEqual([{ field: 'amount', code: 'INVALID_PARAMETER', message }])
        expect(await readStoredRows(app)).toEqual(before)
        // An amount worth one kobo arrives, though no chain can express it (ruling 36).
        const { result } = await apiClients[api].createPayout(app, { ...payout, amount: '0.00000667' })
        expect(result.amountFiat).toBe('0.01000000')
      },
    )

    test('ruling 47: getPayoutQuote and createPayout reject a payout below the smallest unit for any rate and amount', async () => {
      let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
      const app = await startApp(engine, { clock: () => nowMs, rates: [] })
      await app.wallet({ balance: '9999999999' })
      const counts = { rejected: 0, paid: 0 }
      const rate = fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 6n }), fc.bigInt({ min: 10n ** 9n, max: 2n * 10n ** 12n }))
      const amount = fc.oneof(fc.bigInt({ min: 1n, max: 2_000n }), fc.bigInt({ min: 1n, max: 10n ** 12n }))
      await fc.assert(
        fc.asyncProperty(rate, amount, async (billionths, units) => {
          nowMs++
          const text = formatAmount(billionths / 10n).replace(/^/, '') + String(billionths % 10n)
          await setRate(app.service, { fromCode: 'USDC', toCode: 'NGN', rate: text, isForced: true })
          const input = { ...payout, amount: formatAmount(units) }
          const arrives = (units * billionths) / 10n ** 15n > 0n
          for (const operation of [getPayoutQuote, createPayout] as const) {
            const outcome = await operation(app.context(), input).catch((error) => error)
            if (arrives) expect(Number((outcome.result ?? outcome).amountFiat)).toBeGreaterThan(0)
            else expect([outcome instanceof DomainError, outcome.details?.fields[0].field]).toEqual([true, 'amount'])
          }
          counts[arrives ? 'paid' : 'rejected']++
        }),
        { numRuns: 60 },
      )
      expect(Math.min(counts.rejected, counts.paid)).toBeGreaterThan(5)
      await app.expectBooksToBalance()
    })
  },
)
