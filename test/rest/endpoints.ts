import type { RestMethod } from '../support/app.ts'
import { payoutBody } from '../support/app.ts'
import { bankMethodBody, businessBody, individualBody, walletMethodBody } from '../support/bodies.ts'

/** An id that no object has. */
export const absentId = '00000000-0000-7000-8000-000000000000'

/** A valid body of a merchant's stablecoin wallet. */
export const walletBody = { currency: 'USDC', network: 'erc20', description: 'Savings' }

/** A valid body of a webhook endpoint. */
export const webhookBody = { url: 'https://example.com/webhooks' }

/** One request to an endpoint; every id in it is of a missing object. */
export type Endpoint = {
  readonly name: string
  readonly method: RestMethod
  readonly path: string
  readonly allow: string
  readonly body?: object
}

/** Every endpoint of the contract (section 4) and of this service, with the methods of its path. */
export const endpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/api/customers', allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/customers/${absentId}`, allow: 'GET, HEAD' },
  { method: 'POST', path: '/api/individual-customers', allow: 'POST', body: individualBody },
  { method: 'PUT', path: `/api/individual-customers/${absentId}`, allow: 'PUT', body: {} },
  { method: 'POST', path: '/api/business-customers', allow: 'POST', body: businessBody },
  { method: 'PUT', path: `/api/business-customers/${absentId}`, allow: 'PUT', body: {} },
  { method: 'GET', path: '/api/payout/methods', allow: 'GET, HEAD' },
  { method: 'POST', path: '/api/payout/methods/banks', allow: 'POST', body: bankMethodBody },
  { method: 'PUT', path: `/api/payout/methods/banks/${absentId}`, allow: 'PUT', body: {} },
  { method: 'POST', path: '/api/payout/methods/wallets', allow: 'POST', body: walletMethodBody },
  { method: 'DELETE', path: `/api/payout/methods/${absentId}`, allow: 'DELETE', body: {} },
  { method: 'POST', path: '/api/payouts/banks', allow: 'POST', body: payoutBody },
  { method: 'GET', path: '/api/payouts', allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/payouts/${absentId}`, allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/payouts/fees', allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/transactions', allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/customers/transactions/by_txid/${absentId}`, allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/customers/transactions/by_ref_id/${absentId}`, allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/customers/transactions/by_customer_id/${absentId}`, allow: 'GET, HEAD' },
  { method: 'POST', path: '/api/wallets', allow: 'GET, HEAD, POST', body: walletBody },
  { method: 'GET', path: '/api/wallets', allow: 'GET, HEAD, POST' },
  { method: 'GET', path: `/api/wallets/${absentId}/customer`, allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/wallets/${absentId}`, allow: 'GET, HEAD' },
  { method: 'POST', path: '/api/webhooks', allow: 'GET, HEAD, POST', body: webhookBody },
  { method: 'GET', path: '/api/webhooks', allow: 'GET, HEAD, POST' },
  { method: 'GET', path: `/api/webhooks/${absentId}`, allow: 'DELETE, GET, HEAD, PUT' },
  { method: 'PUT', path: `/api/webhooks/${absentId}`, allow: 'DELETE, GET, HEAD, PUT', body: {} },
  { method: 'DELETE', path: `/api/webhooks/${absentId}`, allow: 'DELETE, GET, HEAD, PUT', body: {} },
  { method: 'POST', path: `/api/webhooks/${absentId}/rotate`, allow: 'POST', body: {} },
  { method: 'POST', path: `/api/webhooks/${absentId}/test`, allow: 'POST', body: {} },
  { method: 'POST', path: `/api/webhooks/${absentId}/enable`, allow: 'POST', body: {} },
  { method: 'POST', path: `/api/webhooks/${absentId}/disable`, allow: 'POST', body: {} },
  { method: 'POST', path: `/api/webhooks/${absentId}/replay`, allow: 'POST', body: { after: 0 } },
  { method: 'GET', path: `/api/webhooks/${absentId}/deliveries`, allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/wallets/${absentId}/statement`, allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/exports/payouts', allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/exports/fees', allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/exports/deposits', allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/events', allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/asset-codes', allow: 'GET, HEAD' },
].map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, ...endpoint }) as Endpoint)

/** The endpoints that read a body. */
export const endpointsWithBody = endpoints.filter(({ body }) => body !== undefined)

/** The endpoints that create an object; actions on an existing webhook endpoint create none. */
export const creations = endpoints
  .filter(({ method, path }) => method === 'POST' && !path.includes(absentId))
  .map((endpoint) => ({ ...endpoint, status: statusOfCreation(endpoint.path) }))

/** The status of a creation: 200 for a payout, as the provider responds (ruling 1). */
export function statusOfCreation(path: string): number {
  return path === '/api/payouts/banks' ? 200 : 201
}

/** The endpoints whose body may name a customer. */
export const endpointsForCustomers = endpointsWithBody.filter(
  ({ path }) => !/^\/api\/(webhooks|individual-customers|business-customers)/.test(path),
)
