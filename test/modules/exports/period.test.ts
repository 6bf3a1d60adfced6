import { describe, expect, test } from 'vitest'
import { timestamp } from '../../../src/core/ids-and-clock.ts'
import { openingAndClosingBalances, sumSequenceRange } from '../../../src/modules/exports/control-totals.ts'
import { sumBatchSize } from '../../../src/modules/exports/export.ts'
import { periodFields, resolvePeriod } from '../../../src/modules/exports/period.ts'
import type { Context } from '../../../src/operations/context.ts'
import { startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

describe('the period of an export', () => {
  const contextAt = async (now: number): Promise<Context> => (await startApp('sqlite', { clock: () => now })).context()

  test('is final one minute after its end', async () => {
    const context = await contextAt(start)
    const isFinal = (ms: number) => resolvePeriod(context, { from: null, to: timestamp(start + ms) }).isFinal
    expect([-60_001, -60_000, -59_999, 0, 60_000].map(isFinal)).toEqual([true, true, false, false, false])
    expect(resolvePeriod(context, { from: null, to: null })).toEqual({
      from: null,
      to: timestamp(start),
      isFinal: false,
    })
  })

  test('may be empty, but must not end before it starts', async () => {
    const context = await contextAt(start)
    const [from, to] = [timestamp(start), timestamp(start - 1)]
    expect(resolvePeriod(context, { from, to: from })).toMatchObject({ from, to: from })
    expect(resolvePeriod(context, { from, to: null })).toMatchObject({ from, to: from })
    const { code, details } = await domainErrorOf(async () => resolvePeriod(context, { from, to }))
    expect([code, details.fields]).toEqual([
      'INVALID_INPUT',
      [{ field: 'from', code: 'INVALID_PARAMETER', message: 'must not be after the end' }],
    ])
  })

  test.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T08:30:00+01:00', '2026-03-01T07:30:00.000Z'],
    [undefined, null],
    [null, null],
    ['2026-02-30', 'rejected'],
    ['12026-03-01', 'rejected'],
    ['2026-03-011', 'rejected'],
    ['2026-03-01T00:00:00', 'rejected'],
  ])('converts the boundary %s to %s, and a date to 00:00 UTC of that day', (input, expected) => {
    const { success, data } = periodFields.from.safeParse(input)
    expect(success ? data : 'rejected').toBe(expected)
  })
})

describe('the totals of an export', () => {
  const row = { units: 1n, rest: 99_999_999n, rowCount: '2' as unknown as number, fineCount: 0 }

  test('are added up from adjacent batches, separately for whole units and for fractions of a unit', async () => {
    const parts: object[] = []
    const numbers = { after: 7, through: 7 + 2 * sumBatchSize + 1 }
    const {
      totals,
      count,
      hasMoreThanFiveDecimals: hasFineAmounts,
    } = await sumSequenceRange(numbers, async (part) => {
      parts.push(part)
      const fineCount = part.after === 7 + sumBatchSize ? 1n : 0n
      return [{ ...row, assetCode: 'USDC', fineCount }, ...(parts.length === 2 ? [{ ...row, assetCode: 'NGN' }] : [])]
    })
    expect(parts).toEqual([
      { after: 7, through: 7 + sumBatchSize },
      { after: 7 + sumBatchSize, through: 7 + 2 * sumBatchSize },
      { after: 7 + 2 * sumBatchSize, through: numbers.through },
    ])
    expect([...totals]).toEqual([
      ['USDC', 3n * 199_999_999n],
      ['NGN', 199_999_999n],
    ])
    expect([count, hasFineAmounts]).toEqual([8, true])
    const empty = await sumSequenceRange({ after: 7, through: 7 }, () => expect.unreachable('nothing lies between'))
    expect(empty).toEqual({ count: 0, totals: new Map(), hasMoreThanFiveDecimals: false })
  })

  test('list the same assets before and after the period, ordered by code', () => {
    const sums = (...totals: [string, bigint][]) => ({
      count: 0,
      totals: new Map(totals),
      hasMoreThanFiveDecimals: false,
    })
    expect(openingAndClosingBalances(sums(['USDT', 1n], ['NGN', 2n]), sums(['USDC', 4n], ['NGN', 8n]))).toEqual({
      opening: [
        { assetCode: 'NGN', balance: 2n },
        { assetCode: 'USDC', balance: 0n },
        { assetCode: 'USDT', balance: 1n },
      ],
      closing: [
        { assetCode: 'NGN', balance: 10n },
        { assetCode: 'USDC', balance: 4n },
        { assetCode: 'USDT', balance: 1n },
      ],
    })
  })
})
