import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { richMerchants } from './data.ts'
import { isLeanBalanced, leanCopyOf } from './lean-books.ts'
import { leanPayouts } from './lean-payouts.ts'
import { isShort } from './report.ts'

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-lean-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// A yardstick that kept fewer promises than a payout would be an unfair comparison.
test('the benchmark’s minimal payout service pays once per key, rejects payouts without funds, and keeps its books balanced', async () => {
  const path = join(folder, 'source.sqlite')
  const [merchant] = await richMerchants(`sqlite:${path}`, 1)
  const merchantId = merchant?.id ?? ''
  const sizes = { customers: 0, methods: 0, wallets: 0, payouts: 3 }
  const copy = leanCopyOf({ path, merchantId, sizes, apiKey: '', walletId: '', customerId: '' }, folder, 'lean')
  const { together, close } = leanPayouts(copy)
  const request = (key: string, amount: string) => ({
    merchantId,
    key,
    body: JSON.stringify({
      currency: 'USDC',
      amount,
      recipient_name: 'Ada Obi',
      account_number: '0690000031',
      bank_name: 'Access Bank',
      bank_code: '044',
      recipient_currency: 'NGN',
      recipient_country: 'Nigeria',
      payment_purpose: 'GIFTS',
    }),
  })
  const responses = together([
    request('one', '40.5'),
    request('one', '40.5'),
    request('one', '41'),
    request('two', '999999999.9'),
  ])
  expect(responses.map(([status]) => status)).toEqual([200, 200, 422, 422])
  expect(responses[0]).toMatchObject([
    200,
    {
      data: {
        amount: '40.50000000',
        balance: '999999959.50000000',
        amount_fiat: '60750.00000000',
        exchange_rate: '1500',
      },
    },
  ])
  expect(responses[1]).toEqual(responses[0])
  expect(together([request('one', '40.5')])).toEqual([responses[0]])
  expect(together([{ ...request('three', '1'), merchantId: 'of nobody' }])[0]?.[0]).toBe(400)
  close()
  expect(isLeanBalanced(copy)).toBe(true)
})

test('a benchmark misses its target if the ratio that it selects is too low, or without a selection if both ratios are too low', () => {
  const row = { what: '', against: '', ratio: 1, cpuRatio: 2, reach: 1.5, aim: 3, isCost: false }
  expect(isShort(row)).toBe(false)
  expect(isShort({ ...row, by: 'requests' })).toBe(true)
  expect(isShort({ ...row, by: 'cpu' })).toBe(false)
  expect(isShort({ ...row, cpuRatio: 1 })).toBe(true)
})
