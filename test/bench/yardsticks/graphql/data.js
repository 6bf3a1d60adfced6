import Sqlite from 'better-sqlite3'

/** Merchants by API key, in memory: no lookup in a table, no hash. */
export const merchantIds = JSON.parse(process.env.MERCHANTS ?? '{}')

/** The merchant of a request's API key. */
export function merchantOf(headers) {
  const merchantId = merchantIds[headers['x-api-key']]
  if (merchantId === undefined) throw new Error('a valid API key is required')
  return merchantId
}

const db = new Sqlite(process.argv[2], { readonly: true })
// Amounts may exceed the range of a number.
db.defaultSafeIntegers(true)

const among = '(select value from json_each(?))'
const withBalance = `select wallets.*, accounts.balance from wallets
  join accounts on accounts.merchant_id = wallets.merchant_id and accounts.id = wallets.id`

const statements = {
  payouts: db.prepare('select * from payouts where merchant_id = ? order by sequence desc limit ?'),
  payoutCount: db.prepare(`select latest from sequences where merchant_id = ? and name = 'payouts'`).pluck(),
  customers: db.prepare(`select * from customers where merchant_id = ? and id in ${among}`),
  wallet: db.prepare(`${withBalance} where wallets.merchant_id = ? and wallets.id = ?`),
  wallets: db.prepare(`${withBalance} where wallets.merchant_id = ? and wallets.id in ${among}`),
  addresses: db.prepare(
    `select * from wallet_addresses where merchant_id = ? and wallet_id in ${among} order by wallet_id, id`,
  ),
  customer: db.prepare('select * from customers where merchant_id = ? and id = ?'),
  walletsOf: db.prepare(
    `${withBalance} where wallets.merchant_id = ? and wallets.owner_id = ? order by wallets.owner_sequence desc limit ?`,
  ),
  payoutsOf: db.prepare(
    'select * from payouts where merchant_id = ? and customer_id = ? order by sequence desc limit ?',
  ),
  methodsOf: db.prepare(
    'select * from payout_methods where merchant_id = ? and owner_id = ? order by owner_sequence desc limit ?',
  ),
  methods: db.prepare('select * from payout_methods where merchant_id = ? order by sequence desc limit ?'),
  joinedPayouts: db.prepare(
    `select payouts.*, customers.email, customers.phone, wallets.currency, wallets.description, accounts.balance
    from payouts
    left join customers on customers.merchant_id = payouts.merchant_id and customers.id = payouts.customer_id
    join wallets on wallets.merchant_id = payouts.merchant_id and wallets.id = payouts.wallet_id
    join accounts on accounts.merchant_id = wallets.merchant_id and accounts.id = wallets.id
    where payouts.merchant_id = ? order by payouts.sequence desc limit ?`,
  ),
}

export const payouts = (merchantId, first) => statements.payouts.all(merchantId, first)
export const payoutCount = (merchantId) => Number(statements.payoutCount.get(merchantId) ?? 0)
export const walletById = (merchantId, id) => statements.wallet.get(merchantId, id) ?? null

export const customerById = (merchantId, id) => statements.customer.get(merchantId, id) ?? null
export const methods = (merchantId, first) => statements.methods.all(merchantId, first)

/** The lists of a customer. */
export const listsOf = {
  wallets: (merchantId, id, first) => statements.walletsOf.all(merchantId, id, first),
  payouts: (merchantId, id, first) => statements.payoutsOf.all(merchantId, id, first),
  payoutMethods: (merchantId, id, first) => statements.methodsOf.all(merchantId, id, first),
}

/** Payouts with customer and wallet from one statement. */
export function joinedPayouts(merchantId, first) {
  return statements.joinedPayouts.all(merchantId, first).map((row) => {
    const { customer_id, wallet_id, email, phone, currency, description, balance } = row
    const customer = customer_id === null ? null : { id: customer_id, email, phone }
    return { ...row, customer, wallet: { id: wallet_id, currency, description, balance } }
  })
}

/** The customers with these ids, in the order of the ids. */
export const customersByIds = (merchantId, ids) =>
  inOrder(statements.customers.all(merchantId, JSON.stringify(ids)), ids)
export const walletsByIds = (merchantId, ids) => inOrder(statements.wallets.all(merchantId, JSON.stringify(ids)), ids)

/** The addresses of each of these wallets. */
export function addressesOf(merchantId, walletIds) {
  const rows = statements.addresses.all(merchantId, JSON.stringify(walletIds))
  const byWallet = Map.groupBy(rows, ({ wallet_id }) => wallet_id)
  return walletIds.map((id) => byWallet.get(id) ?? [])
}

function inOrder(rows, ids) {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => byId.get(id) ?? null)
}

/** Formats an amount of 10⁻⁸ units as a decimal string of eight places. */
export function decimal(units) {
  const digits = units.toString().padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

export const globalId = (type, id) => btoa(`${type}:${id}`)

/** The fields that the bench's queries select, named as in the service. */
export const typeDefs = `
  type Query {
    wallet(id: ID!): Wallet
    payouts(first: Int, after: String): PayoutConnection!
    customer(id: ID!): Customer
    payoutMethods(first: Int): PayoutMethodConnection!
  }
  type WalletConnection {
    nodes: [Wallet!]!
  }
  type PayoutMethodConnection {
    nodes: [PayoutMethod!]!
  }
  union PayoutMethod = BankPayoutMethod | WalletPayoutMethod
  type BankPayoutMethod {
    id: ID!
    bankName: String!
    accountName: String!
    accountNumber: String!
    checks: [Check!]!
  }
  type WalletPayoutMethod {
    id: ID!
    network: String!
    walletAddress: String!
    checks: [Check!]!
  }
  type Check {
    field: String!
    code: String!
    outcome: String!
    message: String!
  }
  type PayoutConnection {
    totalCount: Int
    nodes: [Payout!]!
  }
  type Payout {
    id: ID!
    status: String!
    assetCode: String!
    amount: String!
    fee: String
    balance: String!
    exchangeRate: String!
    amountFiat: String!
    recipientName: String!
    recipientCurrency: String!
    bankName: String!
    accountNumber: String!
    narration: String
    createdAt: String!
    customer: Customer
    wallet: Wallet
  }
  type Customer {
    id: ID!
    uuid: String!
    email: String!
    phone: String!
    wallets(first: Int): WalletConnection!
    payouts(first: Int): PayoutConnection!
    payoutMethods(first: Int): PayoutMethodConnection!
  }
  type Wallet {
    id: ID!
    currency: String!
    balance: String!
    description: String!
    addresses: [WalletAddress!]!
  }
  type WalletAddress {
    id: ID!
    network: String!
    address: String!
  }
`

/** The resolver of every field that is no relation. */
export const resolvers = {
  PayoutConnection: { totalCount: ({ merchantId }) => payoutCount(merchantId) },
  Payout: {
    id: ({ id }) => globalId('Payout', id),
    assetCode: ({ asset_code }) => asset_code,
    amount: ({ amount }) => decimal(amount),
    fee: ({ fee }) => (fee === null ? null : decimal(fee)),
    balance: ({ balance_after }) => decimal(balance_after),
    exchangeRate: ({ exchange_rate }) => exchange_rate,
    amountFiat: ({ amount_fiat }) => amount_fiat,
    recipientName: ({ recipient_name }) => recipient_name,
    recipientCurrency: ({ recipient_currency }) => recipient_currency,
    bankName: ({ bank_name }) => bank_name,
    accountNumber: ({ account_number }) => account_number,
    createdAt: ({ created_at }) => created_at,
  },
  Customer: { id: ({ id }) => globalId('Customer', id), uuid: ({ id }) => id },
  BankPayoutMethod: {
    id: ({ id }) => globalId('BankPayoutMethod', id),
    bankName: ({ bank_name }) => bank_name,
    accountName: ({ account_name }) => account_name,
    accountNumber: ({ account_number }) => account_number,
    checks: ({ checks }) => JSON.parse(checks),
  },
  WalletPayoutMethod: {
    id: ({ id }) => globalId('WalletPayoutMethod', id),
    network: ({ network }) => network.toUpperCase(),
    walletAddress: ({ wallet_address }) => wallet_address,
    checks: ({ checks }) => JSON.parse(checks),
  },
  Wallet: { id: ({ id }) => globalId('Wallet', id), balance: ({ balance }) => decimal(balance) },
  WalletAddress: {
    id: ({ id }) => globalId('WalletAddress', id),
    network: ({ network }) => network.toUpperCase(),
  },
}

/** Prints the server's URL, and stops it on request. */
export function announce(address) {
  process.stderr.write(`${address}\n`)
  process.on('SIGTERM', () => process.exit(0))
}
