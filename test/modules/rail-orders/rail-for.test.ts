import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSandboxAccount, sandboxAccounts } from '../../../src/modules/rail-orders/sandbox-accounts.ts'
import type { RailRoutes } from '../../../src/modules/rail-orders/select-rail.ts'
import { selectRail } from '../../../src/modules/rail-orders/select-rail.ts'

const payout = {
  assetCode: 'USDC',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
  accountNumber: '0690000032',
}
const sandboxPayout = { ...payout, accountNumber: '9999999900' }

/** The routes that match the payout, most specific first: by asset, then currency, then country. */
const applicable = ['USDC', '*'].flatMap((assetCode) =>
  ['NGN', '*'].flatMap((currency) => ['Nigeria', '*'].map((country) => ({ assetCode, currency, country }))),
)
const nameOf = ({ assetCode, currency, country }: Omit<RailRoutes[number], 'rail'>) =>
  `${assetCode} ${currency} ${country}`

const anyRoute = fc.record({
  assetCode: fc.constantFrom('USDC', 'USDT', '*'),
  currency: fc.constantFrom('NGN', 'ZAR', '*'),
  country: fc.constantFrom('Nigeria', 'South Africa', '*'),
})

describe('the rail of a payout', () => {
  test('is the rail of the most specific matching route, for any order of the routes', () => {
    const routes = fc.uniqueArray(anyRoute, { selector: nameOf, maxLength: 27, size: 'max' })
    fc.assert(
      fc.property(routes, (routes) => {
        const names = new Set(routes.map(nameOf))
        const expected = applicable.map(nameOf).find((name) => names.has(name)) ?? null
        const selected = selectRail(
          routes.map((route) => ({ ...route, rail: nameOf(route) })),
          { mode: 'live' },
          payout,
        )
        expect(selected).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('is the sandbox rail for an account of the sandbox bank if no route matches', () => {
    const route = { assetCode: '*', currency: 'NGN', country: '*', rail: 'bank' }
    expect(selectRail([], { mode: 'sandbox' }, sandboxPayout)).toBe('sandbox')
    expect(selectRail([{ ...route, currency: 'ZAR' }], { mode: 'sandbox' }, sandboxPayout)).toBe('sandbox')
    expect(selectRail([route], { mode: 'sandbox' }, sandboxPayout)).toBe('bank')
    expect(selectRail([], { mode: 'sandbox' }, payout)).toBeNull()
    expect(selectRail([], { mode: 'live' }, sandboxPayout)).toBeNull()
  })
})

test('the sandbox bank accepts only account numbers that consist of 99999999 and two listed digits', () => {
  for (const [digits, outcome] of Object.entries(sandboxAccounts)) {
    expect(outcome, 'the outcome that the REST reference shows').toMatch(/^(completes|rejects|reports|does|is)\b/)
    expect(parseSandboxAccount(`99999999${digits}`)).toBe(digits)
    for (const other of [digits, `9999999${digits}`, `99999998${digits}`, `99999999${digits}0`, `0699999999${digits}`])
      expect([other, parseSandboxAccount(other)]).toEqual([other, null])
  }
  for (const other of ['99999999', '9999999999', '99999999toString', '']) expect(parseSandboxAccount(other)).toBeNull()
})
