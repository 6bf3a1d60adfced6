import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { BenchDatabase } from './data.ts'
import { leanPayouts } from './lean-payouts.ts'

/**
 * The minimum of tables, columns and indexes for the promises of a payout. Keys are integers, rows are clustered in
 * the order of reads, and the other side of an entry follows from its cause.
 */
const schema = `
  create table merchants (id integer primary key, uuid text not null unique);
  create table customers (id integer primary key, merchant_id integer not null, uuid text not null unique, status text not null);
  create table wallets (id integer primary key, merchant_id integer not null, customer_id integer not null, uuid text not null,
    currency text not null, status text not null, balance integer not null check (balance >= 0), entry_count integer not null);
  create index wallets_of_owners on wallets (merchant_id, customer_id, currency);
  create table rates (from_code text, to_code text, effective_at integer, rate text not null, places integer not null,
    primary key (from_code, to_code, effective_at)) without rowid;
  create table fees (currency text, to_code text, effective_at integer, flat integer not null, millionths integer not null,
    primary key (currency, to_code, effective_at)) without rowid;
  create table payouts (id integer primary key, merchant_id integer not null, wallet_id integer not null, customer_id integer not null,
    status text not null, amount integer not null, fee integer, balance_after integer not null, rate text not null,
    amount_fiat text not null, recipient_name text not null, recipient_currency text not null, recipient_country text not null,
    bank_name text not null, bank_code text not null, account_number text not null, payment_purpose text not null,
    narration text, reference_id text not null, created_at integer not null);
  create index payouts_of_merchants on payouts (merchant_id);
  create table entries (wallet_id integer, number integer, payout_id integer, amount integer not null,
    balance_after integer not null, created_at integer not null, primary key (wallet_id, number)) without rowid;
  create table keys (merchant_id integer, key text, fingerprint text not null, payout_id integer not null,
    primary key (merchant_id, key)) without rowid;
`

/** An existing payout. */
const filling = {
  currency: 'USDC',
  amount: '1',
  recipient_name: 'Ada Obi',
  account_number: '0690000031',
  bank_name: 'Access Bank',
  bank_code: '044',
  recipient_currency: 'NGN',
  recipient_country: 'Nigeria',
  payment_purpose: 'GIFTS',
}

/** A separate database with the merchant, customers, wallets, rates and fees of `data`, and as many payouts. */
export function leanCopyOf({ path, merchantId, sizes }: BenchDatabase, folder: string, name: string): string {
  const copy = join(folder, `${name}.sqlite`)
  const db = new Sqlite(copy)
  db.exec(schema)
  db.prepare('attach ? as source').run(path)
  db.exec(`
    insert into merchants (uuid) select id from source.merchants order by id;
    insert into customers (merchant_id, uuid, status) select m.id, c.id, c.status from source.customers c
      join merchants m on m.uuid = merchant_id order by c.id;
    insert into wallets (merchant_id, customer_id, uuid, currency, status, balance, entry_count)
      select m.id, coalesce(c.id, 0), w.id, currency, w.status, balance, 1 from source.wallets w
      join source.accounts a on a.merchant_id = w.merchant_id and a.id = w.id join merchants m on m.uuid = w.merchant_id
      left join customers c on c.uuid = customer_id order by w.id;
    insert into rates select from_code, to_code, unixepoch(effective_at) * 1000, rate, minor_unit_places from source.rates
      join source.asset_codes on code = to_code where cancelled_at is null;
    insert into fees select asset_code, recipient_currency, unixepoch(effective_at) * 1000, flat,
      cast(round(percent * 1e6) as integer) from source.fees where cancelled_at is null;
  `)
  // The wallets' money precedes the payouts.
  db.prepare(
    `update wallets set balance = balance + ? where id = (select wallets.id from wallets
      join merchants on merchants.id = merchant_id where merchants.uuid = ? and customer_id = 0 and currency = 'USDC'
      order by wallets.id limit 1)`,
  ).run(BigInt(sizes.payouts) * 100_000_000n, merchantId)
  db.exec('insert into entries select id, 1, null, balance, balance, 0 from wallets; detach source')
  db.close()
  const lean = leanPayouts(copy)
  for (let start = 0; start < sizes.payouts; start += 1_000) {
    const some = Array.from({ length: Math.min(1_000, sizes.payouts - start) }, (_, i) => `filled-${start + i}`)
    lean.together(some.map((key) => ({ merchantId, key, body: JSON.stringify(filling) })))
  }
  lean.close()
  return copy
}

/**
 * Whether every payout has its entry and its key, and every balance is the sum of its wallet's entries and the latest
 * of them.
 */
export function isLeanBalanced(path: string): boolean {
  const db = new Sqlite(path, { readonly: true })
  const faults = db
    .prepare<[], number>(
      `select
        (select count(*) from entries e join wallets w on w.id = e.wallet_id
          left join payouts p on p.merchant_id = w.merchant_id and p.id = e.payout_id where e.payout_id is not null and
          (e.amount is not -(p.amount + coalesce(p.fee, 0)) or e.balance_after is not p.balance_after
            or e.wallet_id is not p.wallet_id)) +
        abs((select count(*) from payouts) - (select count(*) from entries where payout_id is not null)) +
        abs((select count(*) from payouts) - (select count(*) from (select distinct payout_id from keys))) +
        (select count(*) from wallets w where balance <> (select sum(amount) from entries where wallet_id = w.id) or
          balance <> (select balance_after from entries where wallet_id = w.id order by number desc limit 1))`,
    )
    .pluck()
    .get()
  db.close()
  return faults === 0
}
