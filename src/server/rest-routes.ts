import { assetCodeRoutes } from '../asset-codes/rest.ts'
import { customerRoutes } from '../customers/rest.ts'
import { payoutMethodRoutes } from '../payout-methods/rest.ts'
import { payoutRoutes } from '../payouts/rest.ts'
import type { Route } from '../rest/route.ts'
import { walletRoutes } from '../wallets/rest.ts'

/** Every endpoint of the contract, and those beside it. */
export const routes: readonly Route[] = [
  ...customerRoutes,
  ...payoutMethodRoutes,
  ...payoutRoutes,
  ...walletRoutes,
  ...assetCodeRoutes,
]
