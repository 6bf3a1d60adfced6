import { timestamp } from '../../core/ids-and-clock.ts'
import type { Amount } from '../../core/money/amount.ts'
import { oneUnit } from '../../core/money/amount.ts'
import type { Tx } from '../../database/query.ts'
import type { EventType } from '../../database/tables.ts'
import { latestSequenceNumber } from '../../lists/sequence.ts'
import { balanceChangeOf } from '../../modules/ledger/entry.ts'
import type { NewTransfer } from '../../modules/ledger/post-transfer.ts'
import { recordTransfer } from '../../modules/ledger/post-transfer.ts'
import { insertEventRow } from '../../modules/outbox/repository.ts'
import type { Payout } from '../../modules/payouts/payout.ts'
import {
  defaultTransferType,
  initialPayoutState,
  paymentPurposes,
  payoutAssetCodes,
} from '../../modules/payouts/payout.ts'
import { withChecksum } from '../../modules/payouts/payout-checksum.ts'
import { computeQuote } from '../../modules/payouts/quote.ts'
import { insertPayout, insertPayoutEvent } from '../../modules/payouts/repository.ts'
import { settlementEvents, settlementTransfer } from '../../modules/payouts/settle-payout.ts'
import { transactionId } from '../../modules/payouts/transaction-id.ts'
import type { Fee } from '../../modules/pricing/fees.ts'
import type { RateInForce } from '../../modules/pricing/rates.ts'
import { feeInForce, rateInForce } from '../../modules/pricing/repository.ts'
import type { Deposit } from '../../modules/wallets/deposit-to-wallet.ts'
import { insertDeposit, walletsOfMerchant } from '../../modules/wallets/repository.ts'
import type { Context } from '../../operations/context.ts'
import type { SeededRandom } from './fake-data.ts'
import { fakeBanks, fakeName } from './fake-data.ts'
import type { SeededBalance } from './repository.ts'
import { setAccountBalance, setSequence } from './repository.ts'

export type OnSeedProgress = (noun: string, done: number, total: number) => void

/**
 * Large chunks need fewer commits, and each commit waits for the disk. With small chunks, a running service can write
 * between two chunks.
 */
const chunkSize = 5_000

const settlementOutcomes = [...Array.from({ length: 24 }, () => 'COMPLETED' as const), 'FAILED' as const]

type EventSequence = { latest: number; latestTime: bigint }

type WalletBook = { id: string; customerId: string | null; currency: string } & SeededBalance

/**
 * Writes the same rows as `createPayout`, `settlePayout` and `depositToWallet`, but stores each balance only once per
 * chunk.
 */
export async function seedPayouts(
  context: Context,
  { random, payouts, onProgress }: { random: SeededRandom; payouts: number; onProgress: OnSeedProgress },
): Promise<void> {
  const { db, merchantId } = context
  let books: WalletBook[] = (await walletsOfMerchant(db, { merchantId }))
    .filter(({ currency }) => currency === 'USDC' || currency === 'USDT')
    .map((wallet) => ({ ...wallet, reachableBalance: wallet.balance, entryCount: 0, latestTime: 0n }))
  const prices = await loadPrices(context)
  let sequence = (await latestSequenceNumber(db, { merchantId, name: 'payouts' }))?.latest ?? 0
  let deposits = (await latestSequenceNumber(db, { merchantId, name: 'deposits' }))?.latest ?? 0
  let feed: EventSequence = {
    latest: (await latestSequenceNumber(db, { merchantId, name: 'events' }))?.latest ?? 0,
    latestTime: 0n,
  }
  const last = sequence + payouts
  while (sequence < last) {
    const upTo = Math.min(last, sequence + chunkSize)
    const [booksBefore, feedBefore, sequenceBefore, depositsBefore] = [books, feed, sequence, deposits]
    const chunk = await db.write(async (tx) => {
      // A retry of the transaction must start from the same balances, so the balances are copied before they change.
      const after = booksBefore.map((book) => ({ ...book }))
      const feed = { ...feedBefore }
      const depositCount = { latest: depositsBefore }
      const touched = new Set<WalletBook>()
      let latest = { latestTime: 0n, latestId: '' }
      for (let number = sequenceBefore + 1; number <= upTo; number++) {
        const book = random.pick(after)
        touched.add(book)
        latest = await writePayout(tx, context, { random, book, feed, depositCount, prices, sequence: number })
      }
      for (const book of touched) await setAccountBalance(tx, { merchantId, ...book })
      await setSequence(tx, { merchantId, name: 'payouts', latest: upTo, ...latest, isSorted: 1 })
      await setSequence(tx, {
        ...{ merchantId, name: 'deposits', latest: depositCount.latest, latestTime: 0n, latestId: null, isSorted: 1 },
      })
      await setSequence(tx, { merchantId, name: 'events', ...feed, latestId: null, isSorted: 1 })
      return { books: after, feed, deposits: depositCount.latest }
    })
    books = chunk.books
    feed = chunk.feed
    deposits = chunk.deposits
    sequence = upTo
    onProgress('payouts', payouts - (last - sequence), payouts)
  }
}

type PayoutPrices = Map<string, { rate: RateInForce; fee: Fee | null }>

async function loadPrices({ db, now }: Context): Promise<PayoutPrices> {
  const at = timestamp(now())
  const prices: PayoutPrices = new Map()
  for (const assetCode of payoutAssetCodes) {
    for (const { currency: recipientCurrency } of fakeBanks) {
      const rate = await rateInForce(db, { fromCode: assetCode, toCode: recipientCurrency, at })
      const fee = await feeInForce(db, { assetCode, recipientCurrency, at })
      if (rate) prices.set(`${assetCode} ${recipientCurrency}`, { rate, fee })
    }
  }
  return prices
}

async function writePayout(
  tx: Tx,
  service: Context,
  {
    random,
    book,
    feed,
    depositCount,
    prices,
    sequence,
  }: {
    random: SeededRandom
    book: WalletBook
    feed: EventSequence
    depositCount: { latest: number }
    prices: PayoutPrices
    sequence: number
  },
): Promise<{ latestTime: bigint; latestId: string }> {
  const context = withFixedClock(service)
  const { merchantId } = context
  const assetCode = book.currency
  const amount = (BigInt(random.integer(1_000, 400_000)) * oneUnit) / 100n
  const bank = random.pick(fakeBanks)
  const price = prices.get(`${assetCode} ${bank.currency}`)
  if (!price) throw new Error(`there is no rate from ${assetCode} to ${bank.currency}`)
  const { total, netAmount, ...quote } = computeQuote(amount, price)
  if (book.balance < total) {
    depositCount.latest++
    const numbers = { sequence: depositCount.latest, transactionNumber: sequence - 1 + depositCount.latest }
    const depositId = await writeDeposit(tx, context, { book, amount: total * 50n, numbers })
    await recordSeedEvent(tx, context, feed, { type: 'wallet.transaction.inbound', objectId: depositId, version: 1 })
  }

  const id = context.newId()
  const createdAt = timestamp(context.now())
  const latest = { latestTime: BigInt(context.now()), latestId: id }
  const transferId = await recordWalletTransfer(tx, context, book, {
    kind: 'payout',
    amount: netAmount,
    fee: quote.fee ?? 0n,
    cause: { payoutId: id },
  })
  const { firstName, lastName } = fakeName(random)
  const settlement = random.chance(0.97) ? random.pick(settlementOutcomes) : null
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
    ...initialPayoutState,
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
    transferType: defaultTransferType,
    payoutMethodId: null,
  }
  await insertPayout(tx, withChecksum(payout))
  await recordSeedEvent(tx, context, feed, { type: 'payout.initiated', objectId: id, version: 1 })
  if (settlement === null) return latest

  const later = withFixedClock(service)
  const settlementId = await recordWalletTransfer(tx, later, book, settlementTransfer(payout, settlement))
  const settledAt = timestamp(later.now())
  const event = { merchantId, payoutId: id, status: settlement, cause: null, transferId: settlementId }
  await insertPayoutEvent(tx, { ...event, createdAt: settledAt, sequence: null })
  await recordSeedEvent(tx, later, feed, { ...settlementEvents[settlement], objectId: id })
  return latest
}

function withFixedClock(context: Context): Context {
  const at = context.now()
  return { ...context, now: () => at }
}

async function writeDeposit(
  tx: Tx,
  context: Context,
  {
    book,
    amount,
    numbers,
  }: { book: WalletBook; amount: Amount; numbers: Pick<Deposit, 'sequence' | 'transactionNumber'> },
): Promise<string> {
  const { merchantId } = context
  const reference = `fill ${context.newId()}`
  const transferId = await recordWalletTransfer(tx, context, book, {
    kind: 'deposit',
    amount,
    fee: 0n,
    cause: { reference },
  })
  const createdAt = timestamp(context.now())
  await insertDeposit(tx, {
    merchantId,
    reference,
    walletId: book.id,
    transferId,
    amount,
    balanceAfter: book.balance,
    createdAt,
    ...numbers,
    customerId: book.customerId,
    assetCode: book.currency,
  })
  return transferId
}

async function recordSeedEvent(
  tx: Tx,
  { merchantId, now }: Context,
  feed: EventSequence,
  event: { type: EventType; objectId: string; version: number },
): Promise<void> {
  feed.latest++
  feed.latestTime = BigInt(now())
  await insertEventRow(tx, { merchantId, sequence: feed.latest, ...event, time: feed.latestTime, data: null })
}

async function recordWalletTransfer(
  tx: Tx,
  context: Context,
  book: WalletBook,
  movement: Omit<NewTransfer, 'assetCode'>,
): Promise<string> {
  const transfer = { ...movement, assetCode: book.currency }
  const { kind, amount, fee } = transfer
  if (kind === 'payout_completed') return recordTransfer(tx, context, transfer, null)
  book.balance += balanceChangeOf(kind, amount + fee)
  if (kind === 'deposit') book.reachableBalance += amount
  book.entryCount++
  book.latestTime = BigInt(context.now())
  return recordTransfer(tx, context, transfer, {
    walletId: book.id,
    position: { sequence: book.entryCount, balanceAfter: book.balance },
    createdAt: timestamp(context.now()),
  })
}
