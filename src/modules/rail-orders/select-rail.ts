import type { RowOf } from '../../database/tables.ts'
import type { Service } from '../../operations/context.ts'
import { sandboxAccount, sandboxRailName } from './sandbox-accounts.ts'

/** What decides which rail carries a payout. */
type Carried = {
  readonly assetCode: string
  readonly recipientCurrency: string
  readonly recipientCountry: string
  readonly accountNumber: string
}

/** What operators have said of which rail carries what. */
export type Routes = readonly RowOf<'railRoutes'>[]

/** Stands in a route for every asset, currency or country. */
export const anything = '*'

/**
 * The rail that carries a payout: that of the route which says most of it, the asset before the currency before the country;
 * in the sandbox else the sandbox's own for the accounts that it knows. `null` where an operator pays it.
 */
export function railFor(routes: Routes, { mode }: Pick<Service, 'mode'>, carried: Carried): string | null {
  const fitting = routes.filter((route) => fits(route, carried)).toSorted((one, other) => weight(other) - weight(one))
  if (fitting[0]) return fitting[0].rail
  return mode === 'sandbox' && sandboxAccount(carried.accountNumber) !== null ? sandboxRailName : null
}

function fits(route: RowOf<'railRoutes'>, { assetCode, recipientCurrency, recipientCountry }: Carried): boolean {
  const said = [route.assetCode, route.currency, route.country]
  const asked = [assetCode, recipientCurrency, recipientCountry]
  return said.every((each, place) => each === anything || each === asked[place])
}

function weight({ assetCode, currency, country }: RowOf<'railRoutes'>): number {
  return (assetCode === anything ? 0 : 4) + (currency === anything ? 0 : 2) + (country === anything ? 0 : 1)
}
