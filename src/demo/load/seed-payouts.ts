import { timestamp } from '../../core/ids.ts'
import type { Amount } from '../../core/money/amount.ts'
import { oneUnit } from '../../core/money/amount.ts'
import type { Tx } from '../../database/query.ts'
import { latestInSequence } from '../../lists/sequence.ts'
import { gainOf } from '../../modules/ledger/entry.ts'
import type { Movement } from '../../modules/ledger/post-transfer.ts'
import { recordTransfer } from '../../modules/ledger/post-transfer.ts'
import type { EventType } from '../../modules/outbox/event.ts'
import { insertEventRow } from '../../modules/outbox/repository.ts'
import type { Payout } from '../../modules/payouts/payout.ts'
import { paymentPurposes, payoutAssetCodes, standardTransferType, untouched } from '../../modules/payouts/payout.ts'
import { withChecksum } from '../../modules/payouts/payout-checksum.ts'
import { priceOf } from '../../modules/payouts/quote.ts'
import { insertPayout, insertPayoutEvent } from '../../modules/payouts/repository.ts'
import { settlementTold, settlementTransfer } from '../../modules/payouts/settle-payout.ts'
import { transactionId } from '../../modules/payouts/transaction-id.ts'
import type { Fee } from '../../modules/pricing/fees/fee.ts'
import { feeInForce } from '../../modules/pricing/fees/repository.ts'
import type { RateInForce } from '../../modules/pricing/rates/rate.ts'
import { rateInForce } from '../../modules/pricing/rates/repository.ts'
import { insertDeposit, walletsOfMerchant } from '../../modules/wallets/repository.ts'
import type { Context } from '../../operations/context.ts'
import { banks, personName } from './fake-people.ts'
import type { Random } from './random.ts'
import type { Standing } from './repository.ts'
import { setAccount, setSequence } from './repository.ts'

/** Called as work goes on: what is being made, and how many of how many there are. */
export type Progress = (noun: string, done: number, total: number) => void

/** Payouts that share a commit: enough to make the sync cheap, few enough to let a server beside it write too. */
const chunkSize = 5_000

/** One payout in twenty-five fails. */
const outcomes = [...Array.from({ length: 24 }, () => 'COMPLETED' as const), 'FAILED' as const]

/** Where the merchant's events have come to; they are told as they are made. */
type Feed = { latest: number; latestTime: bigint }

type Book = { id: string; customerId: string | null; currency: string } & Standing

/**
 * Writes payouts in bulk, most of them settled, with a deposit wherever a wallet runs low.
 *
 * It writes what `createPayout`, `settlePayout` and `depositToWallet` write, but keeps the balances in memory and sets
 * them once for each chunk: a million payouts are four million rows.
 */
export async function fillPayouts(
  context: Context,
  { random, payouts, onProgress }: { random: Random; payouts: number; onProgress: Progress },
): Promise<void> {
  const { db, merchantId } = context
  let books: Book[] = (await walletsOfMerchant(db, { merchantId }))
    .filter(({ currency }) => currency === 'USDC' || currency === 'USDT')
    .map((wallet) => ({ ...wallet, reachableBalance: wallet.balance, entryCount: 0, latestTime: 0n }))
  const prices = await pricesOf(context)
  let sequence = (await latestInSequence(db, { merchantId, name: 'payouts' }))?.latest ?? 0
  let feed: Feed = { latest: (await latestInSequence(db, { merchantId, name: 'events' }))?.latest ?? 0, latestTime: 0n }
  const last = sequence + payouts
  while (sequence < last) {
    const upTo = Math.min(last, sequence + chunkSize)
    const before = books
    const written = sequence
    const told = feed
    const filled = await db.write(async (tx) => {
      // Copies, because what did not commit is run again from the same books.
      const after = before.map((book) => ({ ...book }))
      const feed = { ...told }
      const touched = new Set<Book>()
      let latest = { latestTime: 0n, latestId: '' }
      for (let number = written + 1; number <= upTo; number++) {
        const book = random.pick(after)
        touched.add(book)
        latest = await writePayout(tx, context, { random, book, feed, prices, sequence: number })
      }
      for (const book of touched) await setAccount(tx, { merchantId, ...book })
      await setSequence(tx, { merchantId, name: 'payouts', latest: upTo, ...latest })
      await setSequence(tx, { merchantId, name: 'events', ...feed, latestId: null })
      return { books: after, feed }
    })
    books = filled.books
    feed = filled.feed
    sequence = upTo
    onProgress('payouts', payouts - (last - sequence), payouts)
  }
}

/** What prices a payout from an asset to a bank's currency. */
type Prices = Map<string, { rate: RateInForce; fee: Fee | null }>

async function pricesOf({ db, now }: Context): Promise<Prices> {
  const at = timestamp(now())
  const prices: Prices = new Map()
  for (const assetCode of payoutAssetCodes) {
    for (const { currency: recipientCurrency } of banks) {
      const rate = await rateInForce(db, { fromCode: assetCode, toCode: recipientCurrency, at })
      const fee = await feeInForce(db, { assetCode, recipientCurrency, at })
      if (rate) prices.set(`${assetCode} ${recipientCurrency}`, { rate, fee })
    }
  }
  return prices
}

/** Writes one payout, and answers when it was made and which it is. */
async function writePayout(
  tx: Tx,
  service: Context,
  {
    random,
    book,
    feed,
    prices,
    sequence,
  }: { random: Random; book: Book; feed: Feed; prices: Prices; sequence: number },
): Promise<{ latestTime: bigint; latestId: string }> {
  // One moment for all that happens at once, which spares most of the formatting of times.
  const context = atOneMoment(service)
  const { merchantId } = context
  const assetCode = book.currency
  const amount = (BigInt(random.whole(1_000, 400_000)) * oneUnit) / 100n
  const bank = random.pick(banks)
  const price = prices.get(`${assetCode} ${bank.currency}`)
  if (!price) throw new Error(`there is no rate from ${assetCode} to ${bank.currency}`)
  const { total, netAmount, ...quote } = priceOf(amount, price)
  if (book.balance < total) {
    const depositId = await writeDeposit(tx, context, book, total * 50n)
    await tell(tx, context, feed, { type: 'wallet.transaction.inbound', objectId: depositId, version: 1 })
  }

  const id = context.newId()
  const createdAt = timestamp(context.now())
  const latest = { latestTime: BigInt(context.now()), latestId: id }
  const transferId = await write(tx, context, book, {
    kind: 'payout',
    amount: netAmount,
    fee: quote.fee ?? 0n,
    cause: { payoutId: id },
  })
  const { firstName, lastName } = personName(random)
  const settlement = random.chance(0.97) ? random.pick(outcomes) : null
  const payout: Payout = {
    ...quote,
    merchantId,
    id,
    createdAt,
    updatedAt: createdAt,
    sequence,
    walletId: book.id,
    customerId: book.customerId,
    transferId,
    transactionId: transactionId(merchantId, sequence),
    referenceId: context.newId(),
    idempotencyKey: null,
    fingerprint: null,
    ...untouched,
    ...(settlement && { status: settlement }),
    assetCode,
    amount,
    balanceAfter: book.balance,
    recipientName: `${firstName} ${lastName}`,
    recipientCurrency: bank.currency,
    recipientCountry: bank.country,
    bankName: bank.bankName,
    bankCode: bank.bankCode,
    accountNumber: random.digits(10),
    paymentPurpose: random.pick(paymentPurposes),
    narration: random.chance(0.5) ? `Invoice ${sequence}` : null,
    transferType: standardTransferType,
    payoutMethodId: null,
  }
  await insertPayout(tx, withChecksum(payout))
  await tell(tx, context, feed, { type: 'payout.initiated', objectId: id, version: 1 })
  if (settlement === null) return latest

  const later = atOneMoment(service)
  const settlementId = await write(tx, later, book, settlementTransfer(payout, settlement))
  const settledAt = timestamp(later.now())
  const event = { merchantId, payoutId: id, status: settlement, cause: null, transferId: settlementId }
  await insertPayoutEvent(tx, { ...event, createdAt: settledAt, sequence: null })
  await tell(tx, later, feed, { ...settlementTold[settlement], objectId: id })
  return latest
}

function atOneMoment(context: Context): Context {
  const at = context.now()
  return { ...context, now: () => at }
}

async function writeDeposit(tx: Tx, context: Context, book: Book, amount: Amount): Promise<string> {
  const { merchantId } = context
  const reference = `fill ${context.newId()}`
  const transferId = await write(tx, context, book, { kind: 'deposit', amount, fee: 0n, cause: { reference } })
  const createdAt = timestamp(context.now())
  await insertDeposit(tx, {
    merchantId,
    reference,
    walletId: book.id,
    transferId,
    amount,
    balanceAfter: book.balance,
    createdAt,
  })
  return transferId
}

async function tell(
  tx: Tx,
  { merchantId, now }: Context,
  feed: Feed,
  event: { type: EventType; objectId: string; version: number },
): Promise<void> {
  feed.latest++
  feed.latestTime = BigInt(now())
  await insertEventRow(tx, { merchantId, sequence: feed.latest, ...event, time: feed.latestTime, data: null })
}

/** One transfer; where it moves money of the wallet, it moves the book that is kept of it. */
async function write(tx: Tx, context: Context, book: Book, movement: Omit<Movement, 'assetCode'>): Promise<string> {
  const transfer = { ...movement, assetCode: book.currency }
  const { kind, amount, fee } = transfer
  if (kind === 'payout_completed') return recordTransfer(tx, context, transfer, null)
  book.balance += gainOf(kind, amount + fee)
  if (kind === 'deposit') book.reachableBalance += amount
  book.entryCount++
  book.latestTime = BigInt(context.now())
  const place = { sequence: book.entryCount, balanceAfter: book.balance }
  return recordTransfer(tx, context, transfer, { walletId: book.id, place, createdAt: timestamp(context.now()) })
}
