import type { RowOf } from '../../database/tables.ts'
import type { Service } from '../../operations/context.ts'
import { parseSandboxAccount, sandboxRailName } from './sandbox-accounts.ts'

type RoutedPayout = {
  readonly assetCode: string
  readonly recipientCurrency: string
  readonly recipientCountry: string
  readonly accountNumber: string
}

export type RailRoutes = readonly RowOf<'railRoutes'>[]

export const wildcard = '*'

/**
 * Returns the rail of the matching route with the most specific values: the asset counts more than the currency, and
 * the currency counts more than the country. If no route matches, sandbox accounts use the sandbox rail. Returns `null`
 * if an operator must pay the payout.
 */
export function selectRail(routes: RailRoutes, { mode }: Pick<Service, 'mode'>, payout: RoutedPayout): string | null {
  const matches = routes
    .filter((route) => matchesRoute(route, payout))
    .toSorted((one, other) => routeSpecificity(other) - routeSpecificity(one))
  if (matches[0]) return matches[0].rail
  return mode === 'sandbox' && parseSandboxAccount(payout.accountNumber) !== null ? sandboxRailName : null
}

function matchesRoute(
  route: RowOf<'railRoutes'>,
  { assetCode, recipientCurrency, recipientCountry }: RoutedPayout,
): boolean {
  const conditions = [route.assetCode, route.currency, route.country]
  const values = [assetCode, recipientCurrency, recipientCountry]
  return conditions.every((each, i) => each === wildcard || each === values[i])
}

function routeSpecificity({ assetCode, currency, country }: RowOf<'railRoutes'>): number {
  return (assetCode === wildcard ? 0 : 4) + (currency === wildcard ? 0 : 2) + (country === wildcard ? 0 : 1)
}
