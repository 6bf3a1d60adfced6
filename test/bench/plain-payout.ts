import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** The plain form of a payout: a transaction of eight round trips, or one statement. */
export const plainForms = ['transaction', 'statement'] as const
export type PlainForm = (typeof plainForms)[number]

/** A payout to make: `key` is the caller's idempotency key. */
type PayoutRequest = { readonly merchantId: string; readonly key: string | null }

/**
 * Payouts in plain form. Either form writes the same rows as the service, and neither checks its input nor separates
 * merchants by row-level security.
 *
 * @returns `pay` returns the wallet's balance after it
 */
export function plainPayouts(url: string, connections: number, form: PlainForm = 'transaction') {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  const pay = { transaction: payInTransaction, statement: payInStatement }[form]
  return { pay: (asked: PayoutRequest) => pay(pool, asked), close: () => pool.end() }
}

const amount = 100_000_000n

/** One transaction of eight statements, each sent after the previous response. */
async function payInTransaction(pool: pg.Pool, { merchantId, key }: PayoutRequest): Promise<string> {
  const client = await pool.connect()
  const run = async (name: string, text: string, values: unknown[]) => (await client.query({ name, text, values })).rows
  try {
    await client.query('begin')
    const [price] = await run('price', priceText, ['USDC', 'NGN'])
    const [wallet] = await run('wallet', walletText, [merchantId, 'USDC', amount])
    const [moved] = await run('debit', debitText, [merchantId, wallet.id, amount])
    const transferId = randomUUID()
    await run('transfer', transferText, [merchantId, transferId, wallet.id, amount, moved.entry_count, moved.balance])
    const [{ latest }] = await run('sequence', sequenceText, [merchantId])
    const paid = [merchantId, randomUUID(), latest, wallet.id, transferId, amount, moved.balance, price.rate, key]
    await run('payout', payoutText, paid)
    await client.query('commit')
    client.release()
    return moved.balance
  } catch (error) {
    // Closed instead of released: it is still in the transaction.
    client.release(true)
    throw error
  }
}

/** One statement, which is its own transaction. */
async function payInStatement(pool: pg.Pool, { merchantId, key }: PayoutRequest): Promise<string> {
  const values = [merchantId, 'USDC', amount, 'NGN', randomUUID(), randomUUID(), key]
  const { rows } = await pool.query({ name: 'pay', text: statementText, values })
  return rows[0].balance_after
}

const priceText = `select rate, flat, percent from rates left join fees on asset_code = from_code and recipient_currency = to_code
  and fees.effective_at <= now() where from_code = $1 and to_code = $2 and rates.effective_at <= now()
  order by rates.effective_at desc, fees.effective_at desc limit 1`

const walletText = `select w.* from wallets w join accounts a on a.merchant_id = w.merchant_id and a.id = w.id_text
  where w.merchant_id = $1 and owner_id = $1 and currency = $2 and status = 'active' and balance >= $3
  order by owner_sequence limit 1`

const debitText = `update accounts set balance = balance - $3, entry_count = entry_count + 1
  where merchant_id = $1 and id = $2 and balance >= $3 returning balance, entry_count`

const transferColumns = `merchant_id, id, kind, asset_code, wallet_id, amount, fee, sequence, balance_after, created_at`

const transferText = `insert into transfers (${transferColumns})
  values ($1, $2, 'payout', 'USDC', $3, $4, 0, $5, $6, now())`

const sequenceText = `insert into sequences values ($1, 'payouts', 1)
  on conflict (merchant_id, name) do update set latest = sequences.latest + 1 returning latest`

const payoutColumns = `merchant_id, id, sequence, wallet_id, transfer_id, amount, balance_after, exchange_rate, idempotency_key,
  reference_id, transaction_id, status, asset_code, amount_fiat, recipient_name, recipient_currency, recipient_country,
  bank_name, bank_code, account_number, payment_purpose, transfer_type, created_at, updated_at`

const payoutConstants = `'PLAIN', 'PROCESSING', 'USDC', '0', 'Ada Obi', 'NGN', 'Nigeria', 'Access Bank', '044', '0690000032',
  'GIFTS', 'ach', now(), now()`

const payoutText = `insert into payouts (${payoutColumns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $2, ${payoutConstants})`

const statementText = `with
  price as (select rate from rates where from_code = $2 and to_code = $4 and effective_at <= now()
    order by effective_at desc limit 1),
  wallet as (select w.id, w.id_text from wallets w join accounts a on a.merchant_id = w.merchant_id and a.id = w.id_text
    where w.merchant_id = $1 and owner_id = $1 and currency = $2 and status = 'active' and balance >= $3
    order by owner_sequence limit 1),
  moved as (update accounts set balance = balance - $3, entry_count = entry_count + 1 from wallet
    where accounts.merchant_id = $1 and accounts.id = wallet.id_text and balance >= $3
    returning wallet.id as wallet_id, accounts.id, balance, entry_count),
  transfer as (insert into transfers (${transferColumns})
    select $1::uuid, $5::uuid, 'payout', 'USDC', wallet_id, $3::bigint, 0, entry_count, balance, now() from moved),
  number as (insert into sequences select $1::uuid, 'payouts', 1 from moved
    on conflict (merchant_id, name) do update set latest = sequences.latest + 1 returning latest)
  insert into payouts (${payoutColumns})
  select $1::uuid, $6::uuid, latest, wallet_id, $5::uuid, $3::bigint, balance, rate, $7, $6::uuid, ${payoutConstants} from moved, number, price
  returning balance_after`
