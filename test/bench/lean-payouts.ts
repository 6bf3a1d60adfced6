import { hash, randomUUID } from 'node:crypto'
import Sqlite from 'better-sqlite3'

/** A request; `body` is that of our own POST. */
export type LeanRequest = { readonly merchantId: string; readonly key: string; readonly body: string }

/** The status and the JSON of a response. */
export type LeanAnswer = [status: number, value: unknown]

type Wallet = { id: bigint; uuid: string; currency: string; balance: bigint; entry_count: bigint }

type Payout = Record<
  | 'status'
  | 'rate'
  | 'amount_fiat'
  | 'recipient_name'
  | 'recipient_currency'
  | 'recipient_country'
  | 'bank_name'
  | 'bank_code'
  | 'account_number'
  | 'payment_purpose'
  | 'reference_id',
  string
> & {
  id: bigint
  amount: bigint
  fee: bigint | null
  balance_after: bigint
  narration: string | null
  created_at: bigint
}

const required = [
  ...['currency', 'recipient_name', 'recipient_currency', 'recipient_country', 'bank_name', 'bank_code'],
  ...['account_number', 'payment_purpose'],
]

/** The bank account format of each currency. */

const refused: LeanAnswer = [422, { status: 'failed' }]

/**
 * Payouts as written by hand for nothing else, on separate tables (see lean-books.ts): debited by one conditional
 * update, made once for each key (which returns the same response again, and rejects another request), durable before
 * any response, and visible to one merchant only.
 *
 * @returns `together` makes the payouts of several requests in one transaction
 */
export function leanPayouts(path: string): {
  together: (requests: readonly LeanRequest[]) => LeanAnswer[]
  close: () => void
} {
  const db = new Sqlite(path)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  // The same settings as the service, so that only the written rows differ.
  db.pragma('wal_autocheckpoint = 4000')
  db.pragma('cache_size = -65536')
  const [begin, commit, rollback] = ['begin immediate', 'commit', 'rollback'].map((sql) => db.prepare(sql))
  const pay = payer(db)
  return {
    together: (requests) => {
      begin?.run()
      try {
        const responses = requests.map(pay)
        commit?.run()
        return responses
      } catch (error) {
        if (db.inTransaction) rollback?.run()
        throw error
      }
    },
    close: () => void db.close(),
  }
}

function payer(db: Sqlite.Database): (request: LeanRequest) => LeanAnswer {
  const merchantIds = new Map(db.prepare<[], [string, number]>('select uuid, id from merchants').raw().all())
  // The unary plus keeps SQLite from re-planning a statement for each bound value.
  const payoutOfKey = db
    .prepare<
      [number, string],
      Payout & Pick<Wallet, 'uuid' | 'currency'> & { fingerprint: string; payer: string | null }
    >(
      `select p.*, fingerprint, wallets.uuid, currency, customers.uuid as payer from keys
      join payouts p on p.id = payout_id join wallets on wallets.id = wallet_id
      left join customers on customers.id = p.customer_id where keys.merchant_id = +? and key = +?`,
    )
    .safeIntegers()
  const customer = db
    .prepare<[string, number], number>(
      `select id from customers where uuid = +? and merchant_id = +? and status = 'active'`,
    )
    .pluck()
  const rateInForce = db.prepare<[string, string, number], { rate: string; places: number }>(
    `select rate, places from rates where from_code = +? and to_code = +? and effective_at <= +?
    order by effective_at desc limit 1`,
  )
  const feeInForce = db
    .prepare<[string, string, number], { flat: bigint; millionths: bigint }>(
      `select flat, millionths from fees where currency = +? and to_code = +? and effective_at <= +?
      order by effective_at desc limit 1`,
    )
    .safeIntegers()
  const debit = db
    .prepare<[bigint, number, number, string, bigint], Wallet>(
      `update wallets set balance = balance - +?, entry_count = entry_count + 1
      where id = (select id from wallets where merchant_id = +? and customer_id = +? and currency = +? and status = 'active'
        and balance >= +? order by id limit 1) returning id, uuid, currency, balance, entry_count`,
    )
    .safeIntegers()
  const insertPayout = db.prepare(`insert into payouts values (null, ${Array(19).fill('?')})`).safeIntegers()
  const insertEntry = db.prepare('insert into entries values (?, ?, ?, ?, ?, ?)')
  const insertKey = db.prepare('insert into keys values (?, ?, ?, ?)')

  return ({ merchantId: uuid, key, body }) => {
    const merchantId = merchantIds.get(uuid)
    const request = JSON.parse(body) as Record<string, string>
    const amount = units(request.amount)
    if (merchantId === undefined || !amount) return [400, { status: 'failed' }]
    for (const name of required) if (typeof request[name] !== 'string') return [400, { status: 'failed' }]
    const fingerprint = hash('sha256', body, 'base64url')
    const before = payoutOfKey.get(merchantId, key)
    if (before) return before.fingerprint === fingerprint ? toResponse(before, before, before.payer) : refused

    const { currency = '', recipient_currency = '', customer_id: payer = null } = request
    const { recipient_name, recipient_country, bank_name, bank_code, account_number, payment_purpose } = request
    const narration = request.narration ?? null
    const nowMs = Date.now()
    const customerId = payer === null ? 0 : customer.get(payer, merchantId)
    const price = rateInForce.get(currency, recipient_currency, nowMs)
    const tariff = feeInForce.get(currency, recipient_currency, nowMs)
    if (customerId === undefined || !price) return refused
    // Rounded up.
    const fee = tariff ? tariff.flat + (amount * tariff.millionths + 99_999_999n) / 100_000_000n : null
    const total = amount + (fee ?? 0n)
    // The first write: a rejected request leaves no rows.
    const wallet = debit.get(total, merchantId, customerId, currency, total)
    if (!wallet) return refused
    const amount_fiat = converted(amount, price)
    const reference_id = randomUUID()
    const { lastInsertRowid: id } = insertPayout.run(
      ...[merchantId, wallet.id, customerId, 'PROCESSING', amount, fee, wallet.balance, price.rate, amount_fiat],
      ...[recipient_name, recipient_currency, recipient_country, bank_name, bank_code, account_number, payment_purpose],
      ...[narration, reference_id, nowMs],
    )
    insertEntry.run(wallet.id, wallet.entry_count, id, -total, wallet.balance, nowMs)
    insertKey.run(merchantId, key, fingerprint, id)
    const payout = { ...request, id, status: 'PROCESSING', amount, fee, balance_after: wallet.balance, narration }
    return toResponse(
      { ...payout, rate: price.rate, amount_fiat, reference_id, created_at: BigInt(nowMs) } as never,
      wallet,
      payer,
    )
  }
}

/** The JSON of our own POST. */
function toResponse(
  payout: Payout,
  { uuid, currency }: Pick<Wallet, 'uuid' | 'currency'>,
  payer: string | null,
): LeanAnswer {
  const at = new Date(Number(payout.created_at)).toISOString()
  const data = {
    id: String(payout.id),
    sender_wallet_id: uuid,
    receiver_wallet_id: null,
    transaction_id: payout.id.toString(36).toUpperCase().padStart(10, '0'),
    asset_code: currency,
    amount: decimal(payout.amount),
    reference_id: payout.reference_id,
    status: payout.status,
    created_at: at,
    updated_at: at,
    crypto_transaction_id: null,
    network: null,
    transaction_type: 'PAYOUT',
    transaction_mode: 'DEBIT',
    exchange_rate: payout.rate,
    withdrawal_recipient_name: payout.recipient_name,
    fee: payout.fee === null ? null : decimal(payout.fee),
    balance: decimal(payout.balance_after),
    reason: `Withdraw to ${payout.account_number}/${payout.bank_code}`,
    customer_id: payer,
    recipient_currency: payout.recipient_currency,
    recipient_country: payout.recipient_country,
    bank_name: payout.bank_name,
    bank_code: payout.bank_code,
    address: null,
    bank_account: payout.account_number,
    amount_fiat: payout.amount_fiat,
    fiat_reference_id: null,
    narration: payout.narration,
    transfer_type: 'ach',
    provider_transfer_type: 'LOCAL',
  }
  return [200, { status: 'success', data }]
}

function units(text: string | undefined): bigint | null {
  const [, whole = '', places = ''] = /^(\d{1,10})(?:\.(\d{1,8}))?$/.exec(text ?? '') ?? []
  return whole === '' ? null : BigInt(whole + places.padEnd(8, '0'))
}

function decimal(amount: bigint): string {
  const digits = amount.toString().padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

/** Rounded down to the currency's precision. */
function converted(amount: bigint, { rate, places }: { rate: string; places: number }): string {
  const [whole = '', fraction = ''] = rate.split('.')
  const exact = amount * BigInt(whole + fraction)
  const cut = 10n ** BigInt(8 + fraction.length - places)
  const text = (exact / cut).toString().padStart(places + 1, '0')
  return `${text.slice(0, text.length - places)}.${text.slice(text.length - places).padEnd(8, '0')}`
}
