import { assetCodeEndpoints } from '../../modules/asset-codes/rest.ts'
import { clientTokenEndpoints } from '../../modules/client-tokens/rest.ts'
import { customerTypeEndpoints } from '../../modules/customers/customer-types-rest.ts'
import { customerEndpoints } from '../../modules/customers/rest.ts'
import { eventEndpoints } from '../../modules/events/rest.ts'
import { exportEndpoints } from '../../modules/exports/rest.ts'
import { payoutMethodEndpoints } from '../../modules/payout-methods/rest.ts'
import { payoutEndpoints } from '../../modules/payouts/rest.ts'
import { bankEndpoints } from '../../modules/rails/banks/rest.ts'
import { transactionEndpoints } from '../../modules/transactions/rest.ts'
import { walletEndpoints } from '../../modules/wallets/rest.ts'
import { webhookEndpointRoutes } from '../../modules/webhooks/endpoints/rest.ts'
import type { RouteGroup } from '../../rest/route.ts'

export const endpointGroups: readonly RouteGroup[] = [
  customerEndpoints,
  customerTypeEndpoints,
  walletEndpoints,
  payoutEndpoints,
  transactionEndpoints,
  payoutMethodEndpoints,
  bankEndpoints,
  exportEndpoints,
  eventEndpoints,
  webhookEndpointRoutes,
  clientTokenEndpoints,
  assetCodeEndpoints,
]

export const routes = endpointGroups.flatMap(({ routes }) => routes)
