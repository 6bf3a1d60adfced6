import { randomUUID } from 'node:crypto'
import pg from 'pg'

/**
 * A payout as it is plainly written: one transaction of eight statements, each sent when the one before is answered. It
 * writes the same rows as the service, and neither checks its input nor keeps merchants apart by row-level security.
 */
export function plainPayouts(url: string, connections: number) {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  const amount = 100_000_000n

  async function pay(merchantId: string): Promise<void> {
    const client = await pool.connect()
    const run = async (name: string, text: string, values: unknown[]) =>
      (await client.query({ name, text, values })).rows
    try {
      await client.query('begin')
      const [price] = await run('price', priceText, ['USDC', 'NGN'])
      const [wallet] = await run('wallet', walletText, [merchantId, 'USDC', amount])
      const [moved] = await run('debit', debitText, [merchantId, wallet.id, amount])
      const transferId = randomUUID()
      await run('transfer', transferText, [merchantId, transferId, wallet.id, amount, moved.entry_count, moved.balance])
      const [{ latest }] = await run('sequence', sequenceText, [merchantId])
      await run('payout', payoutText, [
        merchantId,
        randomUUID(),
        latest,
        wallet.id,
        transferId,
        amount,
        moved.balance,
        price.rate,
      ])
      await client.query('commit')
    } finally {
      client.release()
    }
  }
  return { pay, close: () => pool.end() }
}

const priceText = `select rate, flat, percent from rates left join fees on asset_code = from_code and recipient_currency = to_code
  and fees.effective_at <= now() where from_code = $1 and to_code = $2 and rates.effective_at <= now()
  order by rates.effective_at desc, fees.effective_at desc limit 1`

const walletText = `select w.* from wallets w join accounts a on a.merchant_id = w.merchant_id and a.id = w.id_text
  where w.merchant_id = $1 and owner_id = $1 and currency = $2 and status = 'active' and balance >= $3
  order by owner_sequence limit 1`

const debitText = `update accounts set balance = balance - $3, entry_count = entry_count + 1
  where merchant_id = $1 and id = $2 and balance >= $3 returning balance, entry_count`

const transferText = `with transfer as (insert into transfers values ($1, $2, 'payout', 'USDC', now()))
  insert into entries values ($1, $2, 1, $3, 'debit', $4, $5, $6),
    ($1, $2, 2, 'payouts_in_transit:USDC', 'credit', $4, null, null)`

const sequenceText = `insert into sequences values ($1, 'payouts', 1)
  on conflict (merchant_id, name) do update set latest = sequences.latest + 1 returning latest`

const payoutText = `insert into payouts (merchant_id, id, sequence, wallet_id, transfer_id, transaction_id, reference_id, status,
    asset_code, amount, balance_after, exchange_rate, amount_fiat, recipient_name, recipient_currency, recipient_country,
    bank_name, bank_code, account_number, payment_purpose, transfer_type, created_at, updated_at)
  values ($1, $2, $3, $4, $5, 'PLAIN', $2, 'PROCESSING', 'USDC', $6, $7, $8, '0', 'Ada Obi', 'NGN', 'Nigeria', 'Access Bank',
    '044', '0690000032', 'GIFTS', 'nip', now(), now())`
