import { assetCodeEndpoints } from '../asset-codes/rest.ts'
import { clientTokenEndpoints } from '../client-tokens/rest.ts'
import { customerEndpoints } from '../customers/rest.ts'
import { exportEndpoints } from '../exports/rest.ts'
import { eventEndpoints } from '../feed/rest.ts'
import { payoutMethodEndpoints } from '../payout-methods/rest.ts'
import { payoutEndpoints } from '../payouts/rest.ts'
import type { Group } from '../rest/route.ts'
import { walletEndpoints } from '../wallets/rest.ts'
import { webhookEndpointRoutes } from '../webhooks/rest.ts'

/** Every endpoint of the contract, and those beside it, in the order in which they are read about. */
export const groups: readonly Group[] = [
  customerEndpoints,
  walletEndpoints,
  payoutEndpoints,
  payoutMethodEndpoints,
  exportEndpoints,
  eventEndpoints,
  webhookEndpointRoutes,
  clientTokenEndpoints,
  assetCodeEndpoints,
]

export const routes = groups.flatMap(({ routes }) => routes)
