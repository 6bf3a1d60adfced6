import { hash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import SchemaBuilder from '@pothos/core'
import DataloaderPlugin from '@pothos/plugin-dataloader'
import RelayPlugin, { resolveOffsetConnection } from '@pothos/plugin-relay'
import Sqlite from 'better-sqlite3'
import { createYoga } from 'graphql-yoga'
import { Kysely, SqliteDialect } from 'kysely'
import { announce, decimal } from './data.js'

// A typical implementation: Yoga, Pothos with its plugins for Relay and DataLoader, Kysely with its own dialect, API
// keys looked up by hash. No log, no limits. `node yoga.js <path>`.
const database = new Sqlite(process.argv[2])
// Amounts may exceed the range of a number.
database.defaultSafeIntegers(true)
const db = new Kysely({ dialect: new SqliteDialect({ database }) })

const builder = new SchemaBuilder({
  plugins: [DataloaderPlugin, RelayPlugin],
  relay: { nodesOnConnection: true, nodeQueryOptions: false, nodesQueryOptions: false },
})

const rowsOf = (table, { merchantId }) => db.selectFrom(table).where(`${table}.merchant_id`, '=', merchantId)
const withBalance = (context) =>
  rowsOf('wallets', context)
    .innerJoin('accounts', (join) =>
      join.onRef('accounts.merchant_id', '=', 'wallets.merchant_id').onRef('accounts.id', '=', 'wallets.id'),
    )
    .selectAll('wallets')
    .select('accounts.balance')
const inOrder = (rows, ids) => {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => byId.get(id) ?? null)
}
const text = (t, column, options = {}) => t.string({ ...options, resolve: (row) => row[column] })
const amount = (t, column, options = {}) =>
  t.string({ ...options, resolve: (row) => (row[column] === null ? null : decimal(row[column])) })

const WalletAddress = builder.objectRef('WalletAddress')
builder.node(WalletAddress, {
  id: { resolve: ({ id }) => id },
  fields: (t) => ({
    network: t.string({ resolve: ({ network }) => network.toUpperCase() }),
    address: t.exposeString('address', {}),
  }),
})

const Customer = builder.loadableNode('Customer', {
  id: { resolve: ({ id }) => id },
  load: async (ids, context) =>
    inOrder(await rowsOf('customers', context).selectAll().where('id', 'in', ids).execute(), ids),
  fields: (t) => ({
    uuid: text(t, 'id'),
    email: t.exposeString('email', {}),
    phone: t.exposeString('phone', {}),
  }),
})

const Wallet = builder.loadableNode('Wallet', {
  id: { resolve: ({ id }) => id },
  load: async (ids, context) => inOrder(await withBalance(context).where('wallets.id', 'in', ids).execute(), ids),
  fields: (t) => ({
    currency: t.exposeString('currency', {}),
    balance: amount(t, 'balance'),
    description: t.exposeString('description', {}),
    addresses: t.loadableGroup({
      type: WalletAddress,
      load: (ids, context) =>
        rowsOf('wallet_addresses', context).selectAll().where('wallet_id', 'in', ids).orderBy('id').execute(),
      group: ({ wallet_id }) => wallet_id,
      resolve: ({ id }) => id,
    }),
  }),
})

const Payout = builder.objectRef('Payout')
builder.node(Payout, {
  id: { resolve: ({ id }) => id },
  fields: (t) => ({
    status: t.exposeString('status', {}),
    assetCode: text(t, 'asset_code'),
    amount: amount(t, 'amount'),
    fee: amount(t, 'fee', { nullable: true }),
    balance: amount(t, 'balance_after'),
    exchangeRate: text(t, 'exchange_rate'),
    amountFiat: text(t, 'amount_fiat'),
    recipientName: text(t, 'recipient_name'),
    recipientCurrency: text(t, 'recipient_currency'),
    bankName: text(t, 'bank_name'),
    accountNumber: text(t, 'account_number'),
    narration: t.exposeString('narration', { nullable: true }),
    createdAt: text(t, 'created_at'),
    customer: t.field({ type: Customer, nullable: true, resolve: ({ customer_id }) => customer_id }),
    wallet: t.field({ type: Wallet, nullable: true, resolve: ({ wallet_id }) => wallet_id }),
  }),
})

builder.queryType({
  fields: (t) => ({
    wallet: t.field({
      type: Wallet,
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, { id }) => String(id),
    }),
    payouts: t.connection(
      {
        type: Payout,
        resolve: (_, args, context) =>
          resolveOffsetConnection({ args, defaultSize: 20, maxSize: 100 }, ({ limit, offset }) =>
            rowsOf('payouts', context).selectAll().orderBy('sequence', 'desc').limit(limit).offset(offset).execute(),
          ),
      },
      {
        fields: (t) => ({
          totalCount: t.int({
            nullable: true,
            resolve: async (_, _args, context) => {
              const counted = rowsOf('payouts', context).select((eb) => eb.fn.countAll().as('total'))
              return Number((await counted.executeTakeFirst()).total)
            },
          }),
        }),
      },
    ),
  }),
})

async function merchantOf(apiKey) {
  const [, , id = '', secret = ''] = String(apiKey).split('_')
  const key = await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
  const isRight = key && timingSafeEqual(hash('sha256', secret, 'buffer'), Buffer.from(key.secret_hash, 'hex'))
  if (!isRight || key.revoked_at !== null) throw new Error('a valid API key is required')
  return key.merchant_id
}

const yoga = createYoga({
  schema: builder.toSchema(),
  logging: false,
  context: async ({ request }) => ({ merchantId: await merchantOf(request.headers.get('x-api-key')) }),
})
const server = createServer(yoga)
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${server.address().port}`))
