import { hash, timingSafeEqual } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { fastify } from 'fastify'
import { Kysely, SqliteDialect } from 'kysely'
import type { Row } from './rest-shapes.ts'
import { pageJson, walletJson } from './rest-shapes.ts'

// A typical implementation: Fastify with its own validation, Kysely with its own dialect, queries built in the
// handlers, API keys looked up by hash. No log, no limits. `node naive.ts <path>`.
type Column = string | null
type Tables = {
  api_keys: { id: string; merchant_id: string; secret_hash: string; revoked_at: Column }
  payout_methods: { [Name in string]: Column } & { merchant_id: string; sequence: number }
  wallets: { [Name in string]: Column } & { merchant_id: string }
  accounts: { id: string; merchant_id: string; balance: bigint }
  wallet_addresses: { [Name in string]: Column } & { merchant_id: string }
}

const database = new Sqlite(process.argv[2])
// Amounts may exceed the range of a number.
database.defaultSafeIntegers(true)
const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
const app = fastify()

app.decorateRequest('merchantId', '')
app.addHook('onRequest', async (request, reply) => {
  const [, , id = '', secret = ''] = String(request.headers['x-api-key']).split('_')
  const key = await db
    .selectFrom('api_keys')
    .select(['merchant_id', 'secret_hash', 'revoked_at'])
    .where('id', '=', id)
    .executeTakeFirst()
  const isRight = key && timingSafeEqual(hash('sha256', secret, 'buffer'), Buffer.from(key.secret_hash, 'hex'))
  if (!isRight || key.revoked_at !== null) return reply.code(401).send({ status: 'failed' })
  request.merchantId = key.merchant_id
})

const querystring = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, default: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
}

app.get('/api/payout/methods', { schema: { querystring } }, async (request) => {
  const { page, limit } = request.query as { page: number; limit: number }
  const ofMerchant = db.selectFrom('payout_methods').where('merchant_id', '=', request.merchantId)
  const { total } = await ofMerchant.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow()
  const rows = await ofMerchant
    .selectAll()
    .orderBy('sequence', 'desc')
    .limit(limit)
    .offset((page - 1) * limit)
    .execute()
  return pageJson(rows as unknown as Row[], { total: Number(total), page, limit })
})

const params = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } }

app.get('/api/wallets/:id', { schema: { params } }, async (request, reply) => {
  const { id } = request.params as { id: string }
  const row = await db
    .selectFrom('wallets')
    .innerJoin('accounts', (join) =>
      join.onRef('accounts.merchant_id', '=', 'wallets.merchant_id').onRef('accounts.id', '=', 'wallets.id'),
    )
    .selectAll('wallets')
    .select('accounts.balance')
    .where('wallets.merchant_id', '=', request.merchantId)
    .where('wallets.id', '=', id)
    .executeTakeFirst()
  if (!row) return reply.code(404).send({ status: 'failed' })
  const addresses = await db
    .selectFrom('wallet_addresses')
    .selectAll()
    .where('merchant_id', '=', request.merchantId)
    .where('wallet_id', '=', id)
    .orderBy('id')
    .execute()
  return walletJson(row as unknown as Row, row.balance as unknown as bigint, addresses as unknown as Row[])
})

process.stderr.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.on('SIGTERM', () => process.exit(0))
