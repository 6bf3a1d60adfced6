import type { Route } from '../../rest/route.ts'

export type FoundObjects = {
  /** Customers whose wallets have not been read yet. */
  customerIds: readonly string[]
  customerId: string | null
  walletId: string | null
  bankMethodId: string | null
  walletMethodId: string | null
  individualId: string | null
  businessId: string | null
  bankCode: string | null
  transactionId: string | null
  referenceId: string | null
}

export function findNothing(): FoundObjects {
  return {
    ...{ customerIds: [], customerId: null, walletId: null, bankMethodId: null, walletMethodId: null },
    ...{ individualId: null, businessId: null, bankCode: null, transactionId: null, referenceId: null },
  }
}

export type ContractRequest = { readonly path: string; readonly body?: object }

export type ContractStep = {
  readonly method: Route['method']
  /** The path of the OpenAPI route, without `/api`. */
  readonly route: string
  readonly note?: string
  /**
   * Returns the request, or the reason why the step is skipped. Without `request`, the step requests the path in
   * `route`.
   */
  readonly request?: (found: FoundObjects) => ContractRequest | string
  /** Returns another request for the step if the last response was an empty list, otherwise `null`. */
  readonly nextRequest?: (found: FoundObjects) => ContractRequest | null
  readonly key?: string | null
  /** The expected status of an error. If `errorStatus` is absent, the response must be a success. */
  readonly errorStatus?: number
  /**
   * Maps a response status to the reason why the step is skipped. A step is skipped if the server lacks an object or
   * endpoint that the step needs.
   */
  readonly unanswered?: Readonly<Record<number, string>>
  readonly use?: (body: unknown, found: FoundObjects) => void
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

const locality = { city: 'Lagos', state: 'Lagos', postal_code: '100001', country: 'Nigeria' }

/** A customer in the older format of the original provider. */
const individual = {
  ...{ customer_type: 'individual', first_name: 'Ada', last_name: 'Obi', birth_date: '1990-01-31' },
  ...{ email: 'contract-check@example.com', phone: '+2348012345678' },
  ...{ account_purpose: 'Contract check', employment_status: 'Employed', expected_monthly_income: 2500 },
  ...{ most_recent_occupation: 'Engineer', source_of_funds: 'Salary' },
  address: { line_1: '1 Quay Road', line_2: 'Flat 2', ...locality },
}

/** A customer in the newer format of the original provider, without the required owners and documents. */
const business = {
  ...{ customer_type: 'business', business_name: 'Contract check', business_type: 'LIMITED_LIABILITY_COMPANY' },
  ...{ business_website: 'https://example.com', email: 'contract-check@example.com', phone: '+2348012345679' },
  ...{ account_purpose: 'OPERATING_A_COMPANY', source_of_funds: 'BUSINESS_INCOME', expected_monthly_income: 50000 },
  ...{ industry: '541511', is_dao: false, business_owners: [], documents: [] },
  registered_address: { street1: '2 Quay Road', street2: 'Floor 1', ...locality, country: 'NG' },
}

const withId = (
  id: string | null,
  missing: string,
  pathOf: (id: string) => string,
  body?: object,
): ContractRequest | string => (id === null ? missing : { path: pathOf(id), ...(body && { body }) })

const unknownId = '00000000-0000-4000-8000-000000000000'

const noCustomer = 'the merchant has no customer'
const noTransaction = 'the merchant has no transaction'
const noBank = { 422: 'the server has no bank that answers', 503: 'the bank does not answer' }
const noAccount = { ...noBank, 404: 'the bank does not know the account' }

const ofCustomer =
  (pathOf: (id: string) => string) =>
  ({ customerId }: FoundObjects) =>
    withId(customerId, noCustomer, pathOf)

/** These steps change nothing. */
export const readSteps: readonly ContractStep[] = [
  {
    ...{ method: 'GET', route: '/customers' },
    use: (body, found) => {
      found.customerIds = rowsOf(body).flatMap((row) => idOf(row) ?? [])
      found.customerId = found.customerIds[0] ?? null
    },
  },
  { method: 'GET', route: '/customers', note: 'second page', request: () => ({ path: '/customers?page=2&limit=1' }) },
  {
    ...{ method: 'GET', route: '/customers', note: 'filtered' },
    request: () => ({
      path: '/customers?customer_type=business&search=a&start_date=2020-01-01T00:00:00Z&end_date=2100-01-01T00:00:00Z',
    }),
  },
  { method: 'GET', route: '/customers/:customerId', request: ofCustomer((id) => `/customers/${id}`) },
  { method: 'GET', route: '/payout/methods', request: () => ({ path: '/payout/methods?limit=100' }) },
  {
    ...{ method: 'GET', route: '/payout/methods', note: 'bank accounts' },
    request: () => ({ path: '/payout/methods?type=BANK&limit=1' }),
  },
  {
    ...{ method: 'GET', route: '/payout/methods', note: 'of a customer' },
    request: ofCustomer((id) => `/payout/methods?customer_id=${id}`),
  },
  {
    ...{ method: 'GET', route: '/wallets/:customer_id/customer' },
    request: ofCustomer((id) => `/wallets/${id}/customer`),
    nextRequest: ({ walletId, customerIds: [customerId] }) =>
      walletId !== null || customerId === undefined ? null : { path: `/wallets/${customerId}/customer` },
    use: (body, found) => {
      found.walletId = idOf(rowsOf(body)[0])
      found.customerIds = found.customerIds.slice(1)
    },
  },
  { method: 'GET', route: '/wallets' },
  {
    ...{ method: 'GET', route: '/wallets/:wallet_id' },
    request: ({ walletId }) => withId(walletId, 'no customer has a wallet', (id) => `/wallets/${id}`),
  },
  { method: 'GET', route: '/asset-codes' },
  { method: 'GET', route: '/asset-codes', note: 'fiat', request: () => ({ path: '/asset-codes?asset_type=FIAT' }) },
  {
    ...{ method: 'GET', route: '/transactions' },
    use: (body, found) => {
      const [transaction] = rowsOf(body)
      found.transactionId = memberOf(transaction, 'transaction_id')
      found.referenceId = memberOf(transaction, 'reference_id')
    },
  },
  {
    ...{ method: 'GET', route: '/transactions', note: 'filtered' },
    request: () => ({ path: '/transactions?transaction_type=PAYOUT&transaction_mode=DEBIT&start_date=2020-01-01' }),
  },
  {
    ...{ method: 'GET', route: '/customers/transactions/by_txid/:transaction_id' },
    request: ({ transactionId }) =>
      withId(transactionId, noTransaction, (id) => `/customers/transactions/by_txid/${id}`),
  },
  {
    ...{ method: 'GET', route: '/customers/transactions/by_ref_id/:reference_id' },
    request: ({ referenceId }) => withId(referenceId, noTransaction, (id) => `/customers/transactions/by_ref_id/${id}`),
  },
  {
    ...{ method: 'GET', route: '/customers/transactions/by_customer_id/:customer_id' },
    request: ofCustomer((id) => `/customers/transactions/by_customer_id/${id}`),
  },
  {
    ...{ method: 'GET', route: '/payouts/fees' },
    request: () => ({ path: '/payouts/fees?amount=50&currency_type=FIAT&from_currency=USDC&to_currency=NGN' }),
    unanswered: { 422: 'the server has no rate from USDC to NGN' },
  },
  {
    ...{ method: 'GET', route: '/payouts/validate-address' },
    request: () => ({ path: `/payouts/validate-address?currency=usdc&address=${walletMethod.wallet_address}` }),
  },
  {
    ...{ method: 'GET', route: '/banks' },
    request: () => ({ path: '/banks?currency=NGN' }),
    unanswered: noBank,
    use: (body, found) => {
      found.bankCode = memberOf(rowsOf(body)[0], 'bank_code')
    },
  },
  {
    ...{ method: 'GET', route: '/banks/resolve' },
    request: ({ bankCode }) =>
      withId(
        bankCode,
        'no bank is known',
        (code) => `/banks/resolve?account_number=${bankMethod.account_number}&bank_code=${code}`,
      ),
    unanswered: noAccount,
  },
  { method: 'GET', route: '/customers', note: 'without a key', key: null, errorStatus: 401 },
  { method: 'GET', route: '/customers', note: 'with a wrong key', key: 'not-a-key', errorStatus: 401 },
  {
    ...{ method: 'GET', route: '/customers/:customerId', note: 'with an unknown id', errorStatus: 404 },
    request: () => ({ path: `/customers/${unknownId}` }),
  },
  {
    ...{ method: 'GET', route: '/payouts/validate-address', note: 'with a wrong address', errorStatus: 400 },
    request: () => ({ path: '/payouts/validate-address?currency=usdc&address=nowhere' }),
  },
]

const nothingCreated = 'nothing was created before'

export const writeSteps: readonly ContractStep[] = [
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
    ...{ method: 'PUT', route: '/payout/methods/wallets/:payout_method_id' },
    request: ({ walletMethodId }) =>
      withId(walletMethodId, nothingCreated, (id) => `/payout/methods/wallets/${id}`, {
        ...walletMethod,
        label: 'Contract check',
      }),
  },
  {
    ...{ method: 'DELETE', route: '/payout/methods/:payout_method_id', note: 'a crypto address' },
    request: ({ walletMethodId }) => withId(walletMethodId, nothingCreated, (id) => `/payout/methods/${id}`),
  },
  {
    ...{ method: 'POST', route: '/wallets' },
    request: () => ({ path: '/wallets', body: { currency: 'ZAR', description: 'Contract check' } }),
  },
  {
    ...{ method: 'POST', route: '/individual-customers' },
    request: () => ({ path: '/individual-customers', body: individual }),
    use: (body, found) => {
      found.individualId = idOf(dataOf(body))
    },
  },
  {
    ...{ method: 'PUT', route: '/individual-customers/:customerId' },
    request: ({ individualId }) =>
      withId(individualId, nothingCreated, (id) => `/individual-customers/${id}`, { ...individual, middle_name: 'B' }),
  },
  {
    ...{ method: 'POST', route: '/business-customers' },
    request: () => ({ path: '/business-customers', body: business }),
    use: (body, found) => {
      found.businessId = idOf(dataOf(body))
    },
  },
  {
    ...{ method: 'PUT', route: '/business-customers/:customerId' },
    request: ({ businessId }) =>
      withId(businessId, nothingCreated, (id) => `/business-customers/${id}`, { ...business, is_dao: true }),
  },
  {
    ...{ method: 'POST', route: '/banks/resolve' },
    request: ({ bankCode }) =>
      withId(bankCode, 'no bank is known', () => '/banks/resolve', {
        account_number: bankMethod.account_number,
        bank_code: bankCode,
      }),
    unanswered: noAccount,
  },
]

export const payoutStep = (amount: string): ContractStep => ({
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

function dataOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null ? (body as { data?: unknown }).data : undefined
}

function rowsOf(body: unknown): readonly unknown[] {
  const data = dataOf(body)
  return Array.isArray(data) ? data : []
}

function idOf(row: unknown): string | null {
  return memberOf(row, 'id')
}

/** An id need not be a UUID, but must contain only characters that are safe in a path. */
function memberOf(row: unknown, name: string): string | null {
  const value = typeof row === 'object' && row !== null ? (row as Readonly<Record<string, unknown>>)[name] : undefined
  return typeof value === 'string' && /^[\w-]+$/.test(value) ? value : null
}
