import Sqlite from 'better-sqlite3'
import { servePlainly } from './plain-server.ts'
import type { Row } from './rest-shapes.ts'
import { pageJson, walletJson } from './rest-shapes.ts'

// The theoretical minimum: node:http, prepared statements, JSON.stringify. `node bare.ts <path>`.
const db = new Sqlite(process.argv[2], { readonly: true })

const methodCount = db
  .prepare<[string], number>(
    `select row_count from list_counts where merchant_id = ? and list = 'payout_methods' and block_size = 0 and block = 0`,
  )
  .pluck()

const methods = db.prepare<[string, number, number], Row>(
  `select id, type, currency, created_at, updated_at, customer_id, label, wallet_address, network, account_name,
    account_number, bank_name, bank_code, sort_code, swift_code, routing_number, iban
  from payout_methods where merchant_id = ? order by sequence desc limit ? offset ?`,
)

const wallet = db
  .prepare<[string, string], Row & { balance: bigint }>(
    `select wallets.id, wallets.asset_type, wallets.currency, wallets.description, wallets.status, wallets.created_at,
      wallets.updated_at, wallets.customer_id, accounts.balance
    from wallets join accounts on accounts.merchant_id = wallets.merchant_id and accounts.id = wallets.id
    where wallets.merchant_id = ? and wallets.id = ?`,
  )
  // An amount may exceed the range of a number.
  .safeIntegers()

const addresses = db.prepare<[string, string], Row>(
  `select id, address, network, created_at from wallet_addresses where merchant_id = ? and wallet_id = ? order by id`,
)

servePlainly(({ merchantId, url }) => {
  if (url.startsWith('/api/wallets/')) {
    const id = url.slice('/api/wallets/'.length)
    const row = wallet.get(merchantId, id)
    return row ? [200, walletJson(row, row.balance, addresses.all(merchantId, id))] : [404, {}]
  }
  const query = new URLSearchParams(url.slice(url.indexOf('?')))
  const [page, limit] = [Number(query.get('page') ?? 1), Number(query.get('limit') ?? 20)]
  const total = methodCount.get(merchantId) ?? 0
  return [200, pageJson(methods.all(merchantId, limit, (page - 1) * limit), { total, page, limit })]
})
