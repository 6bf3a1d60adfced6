import { failure } from '../../rest/error-responses.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import type { Route } from '../../rest/route.ts'
import { routes } from '../../server/rest/routes.ts'
import type { ContractClient } from './contract-client.ts'
import type { Difference } from './response-differences.ts'
import { findDifferences } from './response-differences.ts'

/** One request that the check made, or could not make; `skipped` has the reason. */
type CheckedRequest = {
  readonly check: string
  readonly outcome: 'holds' | 'differs' | 'skipped'
  readonly differences: number
  readonly skipped: string | null
}

export type ContractCheck = {
  readonly holds: boolean
  readonly requests: readonly CheckedRequest[]
  readonly differences: readonly (Difference & { readonly check: string })[]
}

export type CheckOptions = {
  /** Also creates a bank account and a crypto address, deletes them, and opens a wallet. */
  readonly canWrite: boolean
  /** The amount in USDC of a payout to an example account, which may cost money; `null` for none. */
  readonly payoutAmount: string | null
}

/** The ids that responses had so far; `null` for none. */
type Found = {
  customerIds: readonly string[]
  walletId: string | null
  bankMethodId: string | null
  walletMethodId: string | null
}

type Request = { readonly path: string; readonly body?: object }

type Step = {
  readonly method: Route['method']
  /** The path as the route declares it, without `/api`. */
  readonly route: string
  /** Distinguishes the request from others of the same endpoint. */
  readonly note?: string
  /** Returns the request, or the reason to skip it; by default the request is for the path of the route. */
  readonly request?: (found: Found) => Request | string
  /** Returns another request for the same endpoint, if the last response was empty. */
  readonly nextRequest?: (found: Found) => Request | null
  readonly key?: string | null
  /** The status of an expected error; without it the response must be a success. */
  readonly errorStatus?: number
  readonly use?: (body: unknown, found: Found) => void
}

const bankMethod = {
  type: 'BANK',
  account_name: 'Ada Obi',
  account_number: '0690000032',
  bank_name: 'Access Bank',
  currency: 'NGN',
  bank_code: '044',
}

const walletMethod = {
  type: 'WALLET',
  currency: 'USDC',
  network: 'erc20',
  wallet_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
}

/** Returns a request for the path of an id, or why there is none. */
const withId = (id: string | null, missing: string, pathOf: (id: string) => string, body?: object): Request | string =>
  id === null ? missing : { path: pathOf(id), ...(body && { body }) }

/** An id that no object has. */
const unknownId = '00000000-0000-4000-8000-000000000000'

const noCustomer = 'the merchant has no customer'

/** The requests that change nothing, in order: later ones use the ids that earlier ones return. */
const readSteps: readonly Step[] = [
  {
    ...{ method: 'GET', route: '/customers' },
    use: (body, found) => {
      found.customerIds = rowsOf(body).flatMap((row) => idOf(row) ?? [])
    },
  },
  { method: 'GET', route: '/customers', note: 'second page', request: () => ({ path: '/customers?page=2&limit=1' }) },
  {
    ...{ method: 'GET', route: '/customers/:customerId' },
    request: ({ customerIds: [customerId = null] }) => withId(customerId, noCustomer, (id) => `/customers/${id}`),
  },
  { method: 'GET', route: '/payout/methods', request: () => ({ path: '/payout/methods?limit=100' }) },
  {
    ...{ method: 'GET', route: '/payout/methods', note: 'bank accounts' },
    request: () => ({ path: '/payout/methods?type=BANK&limit=1' }),
  },
  {
    ...{ method: 'GET', route: '/payout/methods', note: 'of a customer' },
    request: ({ customerIds: [customerId = null] }) =>
      withId(customerId, noCustomer, (id) => `/payout/methods?customer_id=${id}`),
  },
  {
    ...{ method: 'GET', route: '/wallets/:customer_id/customer' },
    request: ({ customerIds: [customerId = null] }) =>
      withId(customerId, noCustomer, (id) => `/wallets/${id}/customer`),
    nextRequest: ({ walletId, customerIds: [customerId] }) =>
      walletId !== null || customerId === undefined ? null : { path: `/wallets/${customerId}/customer` },
    use: (body, found) => {
      found.walletId = idOf(rowsOf(body)[0])
      found.customerIds = found.customerIds.slice(1)
    },
  },
  {
    ...{ method: 'GET', route: '/wallets/:wallet_id' },
    request: ({ walletId }) => withId(walletId, 'no customer has a wallet', (id) => `/wallets/${id}`),
  },
  { method: 'GET', route: '/asset-codes' },
  { method: 'GET', route: '/asset-codes', note: 'fiat', request: () => ({ path: '/asset-codes?asset_type=FIAT' }) },
  { method: 'GET', route: '/customers', note: 'without a key', key: null, errorStatus: 401 },
  { method: 'GET', route: '/customers', note: 'with a wrong key', key: 'not-a-key', errorStatus: 401 },
  {
    ...{ method: 'GET', route: '/customers/:customerId', note: 'with an unknown id', errorStatus: 404 },
    request: () => ({ path: `/customers/${unknownId}` }),
  },
]

const nothingCreated = 'nothing was created before'

const writeSteps: readonly Step[] = [
  {
    ...{ method: 'POST', route: '/payout/methods/banks' },
    request: () => ({ path: '/payout/methods/banks', body: bankMethod }),
    use: (body, found) => {
      found.bankMethodId = idOf(dataOf(body))
    },
  },
  {
    ...{ method: 'PUT', route: '/payout/methods/banks/:payout_method_id' },
    request: ({ bankMethodId }) =>
      withId(bankMethodId, nothingCreated, (id) => `/payout/methods/banks/${id}`, {
        ...bankMethod,
        account_name: 'Ada Ngozi Obi',
      }),
  },
  {
    ...{ method: 'DELETE', route: '/payout/methods/:payout_method_id', note: 'a bank account' },
    request: ({ bankMethodId }) => withId(bankMethodId, nothingCreated, (id) => `/payout/methods/${id}`),
  },
  {
    ...{ method: 'POST', route: '/payout/methods/wallets' },
    request: () => ({ path: '/payout/methods/wallets', body: walletMethod }),
    use: (body, found) => {
      found.walletMethodId = idOf(dataOf(body))
    },
  },
  {
    ...{ method: 'DELETE', route: '/payout/methods/:payout_method_id', note: 'a crypto address' },
    request: ({ walletMethodId }) => withId(walletMethodId, nothingCreated, (id) => `/payout/methods/${id}`),
  },
  {
    ...{ method: 'POST', route: '/wallets' },
    request: () => ({ path: '/wallets', body: { currency: 'ZAR', description: 'Contract check' } }),
  },
]

const payoutStep = (amount: string): Step => ({
  ...{ method: 'POST', route: '/payouts/banks' },
  request: () => ({
    path: '/payouts/banks',
    body: {
      currency: 'USDC',
      amount,
      recipient_name: bankMethod.account_name,
      account_number: bankMethod.account_number,
      bank_name: bankMethod.bank_name,
      bank_code: bankMethod.bank_code,
      recipient_currency: 'NGN',
      recipient_country: 'Nigeria',
      payment_purpose: 'OTHER',
    },
  }),
})

/**
 * Compares the responses of a server with the twelve endpoints of the contract: status, members, their order, types and values.
 *
 * @param onRequest called before each request, with the number of requests that are done and of all
 */
export async function checkContract(
  send: ContractClient,
  { canWrite, payoutAmount }: CheckOptions,
  onRequest: (done: number, total: number) => void = () => {},
): Promise<ContractCheck> {
  const steps = [
    ...readSteps,
    ...(canWrite ? writeSteps : []),
    ...(payoutAmount === null ? [] : [payoutStep(payoutAmount)]),
  ]
  const found: Found = { customerIds: [], walletId: null, bankMethodId: null, walletMethodId: null }
  const requests: CheckedRequest[] = []
  const differences: (Difference & { check: string })[] = []
  for (const [index, step] of steps.entries()) {
    onRequest(index, steps.length)
    const check = nameOf(step)
    const request = step.request?.(found) ?? { path: step.route }
    if (typeof request === 'string') {
      requests.push({ check, outcome: 'skipped', differences: 0, skipped: request })
      continue
    }
    const each: Difference[] = []
    for (let next: Request | null = request; next !== null; next = step.nextRequest?.(found) ?? null) {
      const { status, body } = await send({
        method: step.method,
        path: `/api${next.path}`,
        body: next.body,
        key: step.key,
      })
      each.push(...compareResponse(step, status, body))
      if (status >= 400) break
      step.use?.(body, found)
    }
    const distinct = withoutRepeats(each)
    differences.push(...distinct.map((difference) => ({ check, ...difference })))
    const outcome = distinct.length === 0 ? 'holds' : 'differs'
    requests.push({ check, outcome, differences: distinct.length, skipped: null })
  }
  onRequest(steps.length, steps.length)
  return { holds: differences.length === 0, requests, differences }
}

/** Names the request as the documentation names its endpoint. */
function nameOf({ method, route, note }: Step): string {
  const endpoint = `${method} /api${route.replaceAll(/:(\w+)/g, '{$1}')}`
  return note === undefined ? endpoint : `${endpoint} (${note})`
}

function compareResponse(step: Step, status: number, body: unknown): Difference[] {
  const { errorStatus } = step
  const route = routeOf(step)
  const expectedStatus = errorStatus ?? route.status
  const schema: JsonSchema = errorStatus === undefined ? route.response.schema : failure.schema
  if (status !== expectedStatus) {
    const actual = `${status} ${JSON.stringify(body).slice(0, 120)}`
    return [{ path: 'HTTP status', expected: String(expectedStatus), actual }]
  }
  return findDifferences(schema, body)
}

/** The same member of several rows is reported once. */
function withoutRepeats(differences: readonly Difference[]): Difference[] {
  return [...new Map(differences.map((each) => [`${each.path} ${each.expected}`, each])).values()]
}

function routeOf({ method, route }: Step): Route {
  const found = routes.find((each) => each.method === method && each.path === `/api${route}`)
  if (!found) throw new Error(`there is no endpoint ${method} /api${route}`)
  return found
}

function dataOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null ? (body as { data?: unknown }).data : undefined
}

function rowsOf(body: unknown): readonly unknown[] {
  const data = dataOf(body)
  return Array.isArray(data) ? data : []
}

/** Ids of other services need not be UUIDs, but become part of a path. */
function idOf(row: unknown): string | null {
  const id = typeof row === 'object' && row !== null ? (row as { id?: unknown }).id : undefined
  return typeof id === 'string' && /^[\w-]+$/.test(id) ? id : null
}
