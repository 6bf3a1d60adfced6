import type { RestMethod } from '../support/app.ts'
import { bankMethodBody, payoutBody, walletMethodBody } from '../support/app.ts'

/** An id that nothing has. */
export const absentId = '00000000-0000-7000-8000-000000000000'

/** The body of a merchant's stablecoin wallet that nothing is wrong with. */
export const walletBody = { currency: 'USDC', network: 'erc20', description: 'Savings' }

/** One request to an endpoint; whatever it names by id is not there. */
export type Endpoint = {
  readonly name: string
  readonly method: RestMethod
  readonly path: string
  readonly allow: string
  readonly body?: object
}

/** Every endpoint of the contract (section 4) and beside it, with the methods that its path has. */
export const endpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/api/customers', allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/customers/${absentId}`, allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/payout/methods', allow: 'GET, HEAD' },
  { method: 'POST', path: '/api/payout/methods/banks', allow: 'POST', body: bankMethodBody },
  { method: 'PUT', path: `/api/payout/methods/banks/${absentId}`, allow: 'PUT', body: {} },
  { method: 'POST', path: '/api/payout/methods/wallets', allow: 'POST', body: walletMethodBody },
  { method: 'DELETE', path: `/api/payout/methods/${absentId}`, allow: 'DELETE', body: {} },
  { method: 'POST', path: '/api/payouts/banks', allow: 'POST', body: payoutBody },
  { method: 'GET', path: '/api/payouts', allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/payouts/${absentId}`, allow: 'GET, HEAD' },
  { method: 'POST', path: '/api/wallets', allow: 'GET, HEAD, POST', body: walletBody },
  { method: 'GET', path: '/api/wallets', allow: 'GET, HEAD, POST' },
  { method: 'GET', path: `/api/wallets/${absentId}/customer`, allow: 'GET, HEAD' },
  { method: 'GET', path: `/api/wallets/${absentId}`, allow: 'GET, HEAD' },
  { method: 'GET', path: '/api/asset-codes', allow: 'GET, HEAD' },
].map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, ...endpoint }) as Endpoint)

/** Those that read a body. */
export const endpointsWithBody = endpoints.filter(({ body }) => body !== undefined)

/** Those that make something. */
export const creations = endpoints.filter(({ method }) => method === 'POST')
