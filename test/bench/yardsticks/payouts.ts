import Sqlite from 'better-sqlite3'
import { timestamp, uuidV7Source } from '../../../src/ids.ts'
import type { Amount } from '../../../src/money/amount.ts'
import { formatAmount, parseAmount } from '../../../src/money/amount.ts'
import { convertAtRate } from '../../../src/money/pricing.ts'
import { transactionId } from '../../../src/payouts/transaction-id.ts'
import { servePlainly } from './plain-server.ts'

// Payouts as they are plainly written: node:http, statements by hand, one transaction for each request, and the same rows.
// No validation beyond the amount's form. `node payouts.ts <path> <FULL|NORMAL>`.
const [path, synchronous] = process.argv.slice(2)
const db = new Sqlite(path)
db.pragma('journal_mode = WAL')
db.pragma(`synchronous = ${synchronous}`)
db.defaultSafeIntegers(true)

const knownKey = db.prepare<[string, string], { id: string }>(
  'select id from payouts where merchant_id = ? and idempotency_key = ?',
)
const rateInForce = db.prepare<[string, string, string], { rate: string; minor_unit_places: bigint }>(
  `select rate, minor_unit_places from rates join asset_codes on code = to_code
  where from_code = ? and to_code = ? and effective_at <= ? order by effective_at desc limit 1`,
)
const feeInForce = db.prepare<[string, string, string]>(
  `select flat, percent from fees where asset_code = ? and recipient_currency = ? and effective_at <= ?
  order by effective_at desc limit 1`,
)
const payingWallet = db
  .prepare<[string, string, string, Amount], string>(
    `select wallets.id from wallets join accounts on accounts.merchant_id = wallets.merchant_id and accounts.id = wallets.id
    where wallets.merchant_id = ? and owner_id = ? and currency = ? and status = 'active' and balance >= ?
    order by owner_sequence limit 1`,
  )
  .pluck()
const debit = db.prepare<[Amount, string, string, Amount], { balance: Amount; entry_count: bigint }>(
  `update accounts set balance = balance - ?, entry_count = entry_count + 1
  where merchant_id = ? and id = ? and balance >= ? returning balance, entry_count`,
)
const insertTransfer = db.prepare(
  `insert into transfers (merchant_id, id, kind, asset_code, wallet_id, amount, fee, sequence, balance_after, payout_id, created_at)
  values (?, ?, 'payout', ?, ?, ?, 0, ?, ?, ?, ?)`,
)
const nextSequence = db
  .prepare<[string], bigint>(
    `insert into sequences (merchant_id, name, latest, latest_time) values (?, 'payouts', 1, 0)
    on conflict (merchant_id, name) do update set latest = sequences.latest + 1 returning latest`,
  )
  .pluck()
const insertPayout = db.prepare(
  `insert into payouts (merchant_id, id, sequence, wallet_id, transfer_id, transaction_id, reference_id, idempotency_key,
    status, asset_code, amount, balance_after, exchange_rate, amount_fiat, recipient_name, recipient_currency,
    recipient_country, bank_name, bank_code, account_number, payment_purpose, transfer_type, created_at, updated_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, 'PROCESSING', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'nip', ?, ?)`,
)

const idSource = uuidV7Source()
const newId = () => idSource(Date.now())

const pay = db.transaction((merchantId: string, key: string, request: Record<string, string>): [number, unknown] => {
  const { currency = '', recipient_currency = '', account_number, bank_name, bank_code } = request
  const { recipient_name, recipient_country, payment_purpose } = request
  const amount = parseAmount(request.amount ?? '')
  if (amount === null) return [400, { status: 'failed' }]
  if (knownKey.get(merchantId, key)) return [422, { status: 'failed' }]
  const at = timestamp(Date.now())
  const price = rateInForce.get(currency, recipient_currency, at)
  // The data has no fees; that there is none must be known.
  if (!price || feeInForce.get(currency, recipient_currency, at)) return [422, { status: 'failed' }]
  const walletId = payingWallet.get(merchantId, merchantId, currency, amount)
  const moved = walletId && debit.get(amount, merchantId, walletId, amount)
  if (!moved) return [422, { status: 'failed' }]

  const [id, transferId, referenceId] = [newId(), newId(), newId()]
  insertTransfer.run(merchantId, transferId, currency, walletId, amount, moved.entry_count, moved.balance, id, at)
  const sequence = nextSequence.get(merchantId) ?? 0n
  const reference = transactionId(merchantId, Number(sequence))
  const amountFiat = convertAtRate(amount, price.rate, Number(price.minor_unit_places))
  insertPayout.run(
    ...[merchantId, id, sequence, walletId, transferId, reference, referenceId, key, currency, amount, moved.balance],
    ...[price.rate, amountFiat, recipient_name, recipient_currency, recipient_country, bank_name, bank_code],
    ...[account_number, payment_purpose, at, at],
  )
  const data = {
    id,
    sender_wallet_id: walletId,
    receiver_wallet_id: null,
    transaction_id: reference,
    asset_code: currency,
    amount: formatAmount(amount),
    reference_id: referenceId,
    status: 'PROCESSING',
    created_at: at,
    updated_at: at,
    crypto_transaction_id: null,
    network: null,
    transaction_type: 'PAYOUT',
    transaction_mode: 'DEBIT',
    exchange_rate: price.rate,
    withdrawal_recipient_name: recipient_name,
    fee: null,
    balance: formatAmount(moved.balance),
    reason: `Withdraw to ${account_number}/${bank_code}`,
    customer_id: null,
    recipient_currency,
    recipient_country,
    bank_name,
    bank_code,
    address: null,
    bank_account: account_number,
    amount_fiat: amountFiat,
    fiat_reference_id: null,
    narration: null,
    transfer_type: 'nip',
    provider_transfer_type: 'LOCAL',
  }
  return [201, { status: 'success', data }]
})

servePlainly(({ merchantId, key, body }) => pay.immediate(merchantId, key, JSON.parse(body)))
