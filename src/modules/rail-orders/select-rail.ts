import type { RowOf } from '../../database/tables.ts'
import type { Service } from '../../operations/context.ts'
import { parseSandboxAccount, sandboxRailName } from './sandbox-accounts.ts'

/** What decides which rail carries a payout. */
type RoutedPayout = {
  readonly assetCode: string
  readonly recipientCurrency: string
  readonly recipientCountry: string
  readonly accountNumber: string
}

/** What operators have said of which rail carries what. */
export type RailRoutes = readonly RowOf<'railRoutes'>[]

/** Stands in a route for every asset, currency or country. */
export const wildcard = '*'

/**
 * The rail that carries a payout: that of the route which says most of it, the asset before the currency before the country;
 * in the sandbox else the sandbox's own for the accounts that it knows. `null` where an operator pays it.
 */
export function selectRail(routes: RailRoutes, { mode }: Pick<Service, 'mode'>, carried: RoutedPayout): string | null {
  const fitting = routes
    .filter((route) => matchesRoute(route, carried))
    .toSorted((one, other) => routeSpecificity(other) - routeSpecificity(one))
  if (fitting[0]) return fitting[0].rail
  return mode === 'sandbox' && parseSandboxAccount(carried.accountNumber) !== null ? sandboxRailName : null
}

function matchesRoute(
  route: RowOf<'railRoutes'>,
  { assetCode, recipientCurrency, recipientCountry }: RoutedPayout,
): boolean {
  const said = [route.assetCode, route.currency, route.country]
  const asked = [assetCode, recipientCurrency, recipientCountry]
  return said.every((each, place) => each === wildcard || each === asked[place])
}

function routeSpecificity({ assetCode, currency, country }: RowOf<'railRoutes'>): number {
  return (assetCode === wildcard ? 0 : 4) + (currency === wildcard ? 0 : 2) + (country === wildcard ? 0 : 1)
}
