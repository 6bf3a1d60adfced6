import { randomUUID } from 'node:crypto'
import type { App } from './app.ts'

/** An operation's input by the operation's field names; it may be invalid on purpose. */
export type Input = Readonly<Record<string, unknown>>

/** A domain error from an API: invalid fields by the operation's names, `null` if it names none. */
export type ApiRejection = {
  readonly code: string
  readonly fields: readonly string[] | null
  readonly available?: string
  readonly required?: string
}

/** The outcome of an operation: its result in camelCase, or `null` and the error. */
export type ApiOutcome<Result = unknown> = {
  readonly result: Result
  readonly refusal: ApiRejection | null
  readonly status: number
}

/** The common fields of every object; amounts and times are strings. */
type Thing = { readonly id: string; readonly createdAt: string; readonly updatedAt: string }

type Customer = Thing & {
  readonly customerType: string
  readonly email: string
  readonly phone: string
  readonly status: string
  readonly address: Readonly<Record<string, string | null>>
  readonly personalInfo: Readonly<Record<string, string | null>>
  readonly financialInfo: Readonly<Record<string, string | null>>
  readonly businessInfo?: Readonly<Record<string, string | null>>
}

type PayoutMethod = Thing & { readonly type: string; readonly currency: string; readonly customerId: string | null }

type BankPayoutMethod = PayoutMethod & {
  readonly accountName: string
  readonly accountNumber: string
  readonly bankName: string
  readonly bankCode: string | null
  readonly sortCode: string | null
  readonly swiftCode: string | null
  readonly routingNumber: string | null
  readonly iban: string | null
}

type WalletPayoutMethod = PayoutMethod & {
  readonly label: string | null
  readonly walletAddress: string
  readonly network: string
}

type Payout = Thing & {
  readonly senderWalletId: string
  readonly receiverWalletId: string | null
  readonly customerId: string | null
  readonly transactionId: string
  readonly referenceId: string | null
  readonly status: string
  readonly reason: string
  readonly assetCode: string
  readonly network: string | null
  readonly amount: string
  readonly fee: string | null
  readonly balance: string
  readonly exchangeRate: string
  readonly amountFiat: string
  readonly recipientName: string
  readonly recipientCurrency: string
  readonly recipientCountry: string
  readonly bankName: string
  readonly bankCode: string | null
  readonly accountNumber: string
  readonly address: string | null
  readonly cryptoTransactionId: string | null
  readonly fiatReferenceId: string | null
  readonly narration: string | null
  readonly transferType: string | null
}

type Address = { readonly id: string; readonly address: string; readonly network: string; readonly createdAt: string }

type ListedWallet = Thing & {
  readonly assetType: string
  readonly currency: string
  readonly balance: string
  readonly description: string
  readonly status: string
  readonly customerId: string | null
}
type Wallet = ListedWallet & { readonly addresses: readonly Address[] }

type AssetCode = Thing & {
  readonly assetType: string
  readonly code: string
  readonly networks: readonly Readonly<Record<string, string>>[] | null
}

type Page<Item> = { readonly items: readonly Item[]; readonly total: number }

/** The result of each operation of the contract, from both APIs. */
type Results = {
  readonly listCustomers: Page<Customer>
  readonly getCustomer: Customer
  readonly listPayoutMethods: Page<PayoutMethod>
  readonly createBankPayoutMethod: BankPayoutMethod
  readonly updateBankPayoutMethod: BankPayoutMethod
  readonly createWalletPayoutMethod: WalletPayoutMethod
  readonly deletePayoutMethod: null
  readonly createPayout: Payout
  readonly createWallet: Wallet
  readonly listCustomerWallets: Page<ListedWallet>
  readonly getWallet: Wallet
  readonly listAssetCodes: readonly AssetCode[]
}

type Options = { readonly idempotencyKey?: string; readonly key?: string }
type Operation<Result> = (app: App, input?: Input, options?: Options) => Promise<ApiOutcome<Result>>

/** The operations of the contract, in its order (4.1 to 4.12). */
export const operationNames = [
  'listCustomers',
  'getCustomer',
  'listPayoutMethods',
  'createBankPayoutMethod',
  'updateBankPayoutMethod',
  'createWalletPayoutMethod',
  'deletePayoutMethod',
  'createPayout',
  'createWallet',
  'listCustomerWallets',
  'getWallet',
  'listAssetCodes',
] as const

/** Every operation of the contract, called through one API. */
export type ApiClient = { readonly [Name in (typeof operationNames)[number]]: Operation<Results[Name]> }

/** Both APIs. */
export const everyApi = ['rest', 'graphql'] as const
export type ApiName = (typeof everyApi)[number]

/** Returns the other API. */
export function otherApi(name: ApiName): ApiName {
  return name === 'rest' ? 'graphql' : 'rest'
}

function restDoor(): ApiClient {
  type Send = { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; path: string; query?: Input; body?: Input }
  const call = async <Result>(
    app: App,
    { method, path, query = {}, body }: Send,
    { idempotencyKey, key }: Options,
    read: (body: Answered) => unknown = ({ data }) => camelCased(data),
    names: Record<string, string> = {},
  ): Promise<ApiOutcome<Result>> => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(given.map(([name, value]) => [snakeCase(name), String(value)]))
    const response = await app.rest(method, `${path}${given.length > 0 ? `?${search}` : ''}`, {
      ...(body && { body: snakeCased(body, names) }),
      ...(key !== undefined && { key }),
      ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    })
    if (response.body.status === 'success') return succeeded(read(response.body) as Result, response.status)
    const { code, details = {} } = response.body.error
    const ownNames = Object.fromEntries(Object.entries(names).map(([name, wire]) => [wire, name]))
    const nameOf = (wire: string) => ownNames[wire] ?? (wire === 'Idempotency-Key' ? 'idempotencyKey' : camelCase(wire))
    return refused({ code, ...details, fields: details.fields ?? null }, nameOf, response.status)
  }
  const page = ({ data, pagination }: Answered) => ({ items: camelCased(data), total: pagination.total })

  return {
    listCustomers: (app, query = {}, options = {}) =>
      call(app, { method: 'GET', path: '/api/customers', query }, options, page),
    getCustomer: (app, input = {}, options = {}) =>
      call(app, { method: 'GET', path: `/api/customers/${input.customerId}` }, options),
    listPayoutMethods: (app, { owner, ...query } = {}, options = {}) =>
      call(
        app,
        { method: 'GET', path: '/api/payout/methods', query: { ...query, customerId: ownerText(owner) } },
        options,
        page,
      ),
    createBankPayoutMethod: (app, body = {}, options = {}) =>
      call(app, { method: 'POST', path: '/api/payout/methods/banks', body: { type: 'BANK', ...body } }, options),
    updateBankPayoutMethod: (app, { payoutMethodId, ...body } = {}, options = {}) =>
      call(app, { method: 'PUT', path: `/api/payout/methods/banks/${payoutMethodId}`, body }, options),
    createWalletPayoutMethod: (app, body = {}, options = {}) =>
      call(app, { method: 'POST', path: '/api/payout/methods/wallets', body: { type: 'WALLET', ...body } }, options),
    deletePayoutMethod: (app, { payoutMethodId, ...body } = {}, options = {}) =>
      call(app, { method: 'DELETE', path: `/api/payout/methods/${payoutMethodId}`, body }, options, () => null),
    createPayout: (app, body = {}, options = {}) =>
      call(
        app,
        { method: 'POST', path: '/api/payouts/banks', body },
        options,
        ({ data }) => {
          const {
            withdrawalRecipientName,
            bankAccount,
            transactionType,
            transactionMode,
            providerTransferType,
            ...rest
          } = camelCased(data) as Record<string, unknown>
          // Three constants of the contract that GraphQL omits.
          const constants = [transactionType, transactionMode, providerTransferType].join()
          if (constants !== 'PAYOUT,DEBIT,LOCAL') throw new Error(`a payout of another kind: ${constants}`)
          return { ...rest, recipientName: withdrawalRecipientName, accountNumber: bankAccount }
        },
        { assetCode: 'currency' },
      ),
    createWallet: (app, body = {}, options = {}) =>
      call(app, { method: 'POST', path: '/api/wallets', body }, options, ({ data }) => {
        const { addresses, ...wallet } = camelCased(data) as { id: string; addresses: { cryptoWalletId: string }[] }
        return {
          ...wallet,
          addresses: addresses.map(({ cryptoWalletId, ...address }) => {
            if (cryptoWalletId !== wallet.id) throw new Error('an address of another wallet')
            return address
          }),
        }
      }),
    listCustomerWallets: (app, { customerId, ...query } = {}, options = {}) =>
      call(app, { method: 'GET', path: `/api/wallets/${customerId}/customer`, query }, options, page),
    getWallet: (app, input = {}, options = {}) =>
      call(app, { method: 'GET', path: `/api/wallets/${input.walletId}` }, options),
    listAssetCodes: (app, query = {}, options = {}) =>
      call(app, { method: 'GET', path: '/api/asset-codes', query }, options, ({ data }) =>
        (camelCased(data) as AssetCodeSeen[]).map((asset) => ({
          ...asset,
          networks: asset.networks?.map((each) => ({ ...each, network: each.network.toLowerCase() })) ?? null,
        })),
      ),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
type Answered = { data: any; pagination: any }
type AssetCodeSeen = { networks: { network: string }[] | null }

function graphqlDoor(): ApiClient {
  const call = async <Result>(
    app: App,
    { query, variables = {} }: { query: string; variables?: object },
    { key }: Options,
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
    read: (data: any) => unknown,
    names: Record<string, string> = {},
  ): Promise<ApiOutcome<Result>> => {
    const request = key === undefined ? {} : { key }
    const { status, data, errors } = await app.graphql(query, variables as Record<string, unknown>, request)
    const nameOf = (path: string) => names[path] ?? path.split('.').at(-1) ?? path
    if (errors.length > 0) {
      const { code, fields = null } = errors[0].extensions
      return refused({ code, fields }, nameOf, status)
    }
    const [[, found]] = Object.entries(data) as [[string, { code?: string } | null]]
    // A GraphQL lookup returns null where REST responds 404.
    if (found === null) return refused({ code: 'RESOURCE_NOT_FOUND', fields: null }, nameOf, status)
    if (found.code !== undefined) return refused({ fields: null, ...found, code: found.code }, nameOf, status)
    return succeeded(read(found) as Result, status)
  }

  const mutate =
    <Result>(
      name: string,
      selection: string,
      // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
      read: (payload: any) => unknown,
      inputOf: (input: Input) => object = (input) => input,
    ): Operation<Result> =>
    (app, input = {}, { idempotencyKey, ...options } = {}) => {
      const Name = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
      const query = `mutation Run($input: ${Name}Input!) { ${name}(input: $input) {
        ... on ${Name}Payload { ${selection} } ${errorSelection(name)} } }`
      const given = { ...inputOf(input), ...(idempotencyKey !== undefined && { idempotencyKey }) }
      return call(app, { query, variables: { input: given } }, options, read)
    }

  /** Returns the page that REST would return, by cursors. */
  const pageOf = async <Item>(
    app: App,
    { page = 1, limit, standardLimit, ...request }: ListRequest,
    options: Options,
  ): Promise<ApiOutcome<Page<Item>>> => {
    let after: string | null = null
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
    let outcome: ApiOutcome<any> | null = null
    for (let i = 1; i <= Number(page); i++) {
      const variables: object = { ...request.variables, first: limit ?? standardLimit, after }
      outcome = await call(app, { query: request.query, variables }, options, request.connection, {
        first: 'limit',
      })
      if (outcome.refusal) return outcome
      after = outcome.result.pageInfo.endCursor
      if (after === null) break
    }
    if (outcome === null) throw new Error('pages are counted from 1')
    const { nodes, totalCount, pageInfo } = outcome.result
    const isBeyond = Number(page) > 1 && pageInfo.startCursor === null
    return { ...outcome, result: { items: isBeyond ? [] : nodes.map(request.read), total: totalCount } }
  }

  return {
    listCustomers: (app, { page, limit } = {}, options = {}) =>
      pageOf(
        app,
        {
          page,
          limit,
          standardLimit: 10,
          query: `query List($first: Int, $after: String) { customers(first: $first, after: $after) {
            ${connectionSelection} nodes { ${customerSelection} } } }`,
          connection: (customers) => customers,
          read: customerSeen,
        },
        options,
      ),
    getCustomer: (app, { customerId } = {}, options = {}) =>
      call(
        app,
        { query: `query Get($id: ID!) { customer(id: $id) { ${customerSelection} } }`, variables: { id: customerId } },
        options,
        customerSeen,
      ),
    listPayoutMethods: (app, { owner, type, currency, page, limit } = {}, options = {}) =>
      pageOf(
        app,
        {
          page,
          limit,
          standardLimit: 20,
          query: `query List($first: Int, $after: String, $filter: PayoutMethodFilter) {
            payoutMethods(first: $first, after: $after, filter: $filter) {
              ${connectionSelection} nodes { ${payoutMethodSelection} } } }`,
          variables: { filter: { owner: ownerInput(owner), type, currency } },
          connection: (methods) => methods,
          read: payoutMethodSeen,
        },
        options,
      ),
    createBankPayoutMethod: mutate('createBankPayoutMethod', `payoutMethod { ${bankSelection} }`, ({ payoutMethod }) =>
      payoutMethodSeen(payoutMethod),
    ),
    updateBankPayoutMethod: mutate('updateBankPayoutMethod', `payoutMethod { ${bankSelection} }`, ({ payoutMethod }) =>
      payoutMethodSeen(payoutMethod),
    ),
    createWalletPayoutMethod: mutate(
      'createWalletPayoutMethod',
      `payoutMethod { ${walletMethodSelection} }`,
      ({ payoutMethod }) => payoutMethodSeen(payoutMethod),
      enumNamed,
    ),
    deletePayoutMethod: mutate('deletePayoutMethod', 'deletedPayoutMethodId', () => null),
    createPayout: (app, input, { idempotencyKey = randomUUID(), ...options } = {}) =>
      mutate<Payout>(
        'createPayout',
        `payout { ${payoutSelection} }`,
        ({ payout: { uuid, wallet, customer, receiverWalletId, network, recipientCountry, ...payout } }) => ({
          ...payout,
          id: uuid,
          senderWalletId: wallet.uuid,
          receiverWalletId,
          customerId: customer?.uuid ?? null,
          network: network?.toLowerCase() ?? null,
          recipientCountry,
        }),
        payoutInput,
      )(app, input, { idempotencyKey, ...options }),
    createWallet: mutate(
      'createWallet',
      `wallet { ${walletSelection} }`,
      ({ wallet }) => walletSeen(wallet),
      enumNamed,
    ),
    listCustomerWallets: (app, { customerId, status, assetType, currency, page, limit } = {}, options = {}) =>
      pageOf(
        app,
        {
          page,
          limit,
          standardLimit: 10,
          query: `query List($id: ID!, $first: Int, $after: String, $filter: OwnedWalletFilter) { customer(id: $id) {
            wallets(first: $first, after: $after, filter: $filter) {
              ${connectionSelection} nodes { ${walletSelection} } } } }`,
          variables: { id: customerId, filter: enumNamed({ status, assetType, currency }) },
          connection: ({ wallets }) => wallets,
          read: (wallet) => {
            const { addresses, ...rest } = walletSeen(wallet)
            const [oldest] = addresses
            const { id: _, ...address } = oldest ?? { id: null }
            return { ...rest, addresses: oldest ? address : null }
          },
        },
        options,
      ),
    getWallet: (app, { walletId } = {}, options = {}) =>
      call(
        app,
        { query: `query Get($id: ID!) { wallet(id: $id) { ${walletSelection} } }`, variables: { id: walletId } },
        options,
        walletSeen,
      ),
    listAssetCodes: (app, { assetType } = {}, options = {}) =>
      call(
        app,
        {
          query: `query List($assetType: AssetType) { assetCodes(first: 100, assetType: $assetType) { nodes {
            uuid assetType code createdAt updatedAt networks { uuid network createdAt } } } }`,
          variables: { assetType },
        },
        options,
        ({ nodes }) =>
          nodes.map(({ uuid, networks, ...asset }: { uuid: string; networks: Seen[]; assetType: string }) => ({
            ...asset,
            id: uuid,
            networks:
              asset.assetType === 'FIAT'
                ? null
                : networks.map(({ uuid: id, network, ...rest }) => ({
                    ...rest,
                    id,
                    network: String(network).toLowerCase(),
                  })),
          })),
      ),
  }
}

type Seen = Record<string, unknown>

type ListRequest = {
  readonly page?: unknown
  readonly limit?: unknown
  readonly standardLimit: number
  readonly query: string
  readonly variables?: object
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
  readonly connection: (found: any) => unknown
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
  readonly read: (node: any) => unknown
}

const connectionSelection = 'totalCount pageInfo { startCursor endCursor }'

const customerSelection = `uuid customerType: type email phone status createdAt updatedAt
  address { line1 line2 city state postalCode country }
  personalInfo { firstName middleName lastName birthDate }
  financialInfo { accountPurpose employmentStatus expectedMonthlyIncome mostRecentOccupation sourceOfFunds }
  businessInfo { businessName businessType businessWebsite }`

const bankSelection = `__typename uuid currency createdAt updatedAt customer { uuid }
  accountName accountNumber bankName bankCode sortCode swiftCode routingNumber iban`

const walletMethodSelection = `__typename uuid currency createdAt updatedAt customer { uuid }
  label walletAddress network`

const payoutMethodSelection = `... on BankPayoutMethod { ${bankSelection} } ... on WalletPayoutMethod { ${walletMethodSelection} }`

const walletSelection = `uuid assetType currency balance description status createdAt updatedAt customer { uuid }
  addresses { uuid address network createdAt }`

const payoutSelection = `uuid wallet { uuid } customer { uuid } receiverWalletId transactionId assetCode amount referenceId
  status createdAt updatedAt cryptoTransactionId network exchangeRate recipientName fee balance reason recipientCurrency
  recipientCountry bankName bankCode address accountNumber amountFiat fiatReferenceId narration transferType`

function errorSelection(mutation: string): string {
  const amounts = mutation === 'createPayout' ? '... on InsufficientFundsError { available required }' : ''
  return `... on UserError { code } ... on InvalidInputError { fields { field } } ${amounts}`
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
function customerSeen({ uuid, customerType, status, personalInfo, businessInfo, ...customer }: any) {
  return {
    ...customer,
    id: uuid,
    customerType: customerType.toLowerCase(),
    status: status.toLowerCase(),
    personalInfo: {
      ...personalInfo,
      // REST writes a day as its first instant.
      birthDate: personalInfo.birthDate && `${personalInfo.birthDate}T00:00:00.000Z`,
    },
    ...(businessInfo !== null && { businessInfo }),
  }
}

const methodTypesByName: Readonly<Record<string, string>> = { BankPayoutMethod: 'BANK', WalletPayoutMethod: 'WALLET' }

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
function payoutMethodSeen({ __typename, uuid, customer, network, ...method }: any) {
  return {
    ...method,
    id: uuid,
    type: methodTypesByName[__typename],
    customerId: customer?.uuid ?? null,
    ...(network !== undefined && { network: network.toLowerCase() }),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
function walletSeen({ uuid, customer, status, addresses, ...wallet }: any) {
  return {
    ...wallet,
    id: uuid,
    status: status.toLowerCase(),
    customerId: customer?.uuid ?? null,
    addresses: addresses.map(({ uuid: id, network, ...address }: Seen) => ({
      ...address,
      id,
      network: String(network).toLowerCase(),
    })),
  }
}

/** The values that GraphQL has as enum names, each as REST writes it. */
const enumNames: Record<string, Record<string, string>> = {
  network: { erc20: 'ERC20', polygon: 'POLYGON', bep20: 'BEP20', trc20: 'TRC20', solana: 'SOLANA' },
  transferType: { ach: 'ACH', fed_wire: 'FED_WIRE', swift: 'SWIFT' },
  recipientCountry: { Nigeria: 'NIGERIA', 'South Africa': 'SOUTH_AFRICA' },
  status: { active: 'ACTIVE' },
}

function enumNamed(input: Input): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) => {
      const names = enumNames[field]
      // A GraphQL enum name is not a REST value, so it must not pass as one.
      return [field, names && typeof value === 'string' ? (names[value] ?? `no value: ${value}`) : value]
    }),
  )
}

const recipientFields = [
  'accountNumber',
  'bankName',
  'bankCode',
  'recipientName',
  'recipientCurrency',
  'recipientCountry',
]

function payoutInput(input: Input): object {
  const named = Object.entries(enumNamed(input))
  const bankAccount = Object.fromEntries(named.filter(([field]) => recipientFields.includes(field)))
  return {
    ...Object.fromEntries(named.filter(([field]) => !recipientFields.includes(field))),
    recipient: { bankAccount },
  }
}

function ownerText(owner: unknown): unknown {
  if (owner === undefined || owner === 'any') return undefined
  return owner === 'merchant' ? 'null' : (owner as { customerId: unknown }).customerId
}

function ownerInput(owner: unknown): unknown {
  if (owner === undefined || owner === 'any') return undefined
  return owner === 'merchant' ? { merchant: true } : owner
}

function succeeded<Result>(result: Result, status: number): ApiOutcome<Result> {
  return { result, refusal: null, status }
}

function refused(
  { code, fields, available, required }: Omit<ApiRejection, 'fields'> & { fields: readonly { field: string }[] | null },
  nameOf: (field: string) => string,
  status: number,
): ApiOutcome<never> {
  return {
    result: null as never,
    refusal: {
      code,
      fields: fields && [...new Set(fields.map(({ field }) => nameOf(field)))].sort(),
      ...(available !== undefined && { available }),
      ...(required !== undefined && { required }),
    },
    status,
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function snakeCased(input: Input, names: Record<string, string>): object {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [names[name] ?? snakeCase(name), value]))
}

function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [camelCase(name), camelCased(inner)]))
}

/** The operations by API. */
export const apiClients: Record<ApiName, ApiClient> = { rest: restDoor(), graphql: graphqlDoor() }
