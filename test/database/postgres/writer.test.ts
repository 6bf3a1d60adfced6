import type { Socket } from 'node:net'
import { createConnection, createServer } from 'node:net'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import type { Database } from '../../../src/database/database.ts'
import { maxQueuedWrites, monotonicNowMs } from '../../../src/database/group-commit.ts'
import type { Tx } from '../../../src/database/query.ts'
import { query } from '../../../src/database/query.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { changeWalletStatus } from '../../../src/modules/wallets/change-wallet-status.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { Context } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { startApp } from '../../support/app.ts'
import { describePostgres } from '../../support/engines.ts'
import { perform } from '../../support/perform.ts'
import { runSql } from '../../support/postgres-database.ts'
import { readStoredRows } from '../../support/stored.ts'

const payout = {
  assetCode: 'USDC',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  amount: '1',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
} as const

/** Starts an app whose merchant holds `usdc` USDC, behind a proxy that counts round trips; `url` bypasses the proxy. */
async function startCounted(amount: string, connections = 16) {
  const app = await startApp('postgres')
  const walletId = await app.wallet({ balance: amount })
  const counted = await countingProxy(app.url)
  const db = await openDatabase({ url: `${counted.url}?pool=${connections}`, onFatal: () => {} })
  onTestFinished(db.close)
  const service = { ...app.service, db }
  return { app, walletId, db, context: () => createContext(service, app.merchant.id), ...counted }
}

/** Creates a payout in an open transaction. */
function payWithin(tx: Tx, { db, ...context }: Context) {
  return perform(createPayout, { ...context, db: { ...db, write: async (operation) => operation(tx) } }, payout)
}

/** Creates a payout in a transaction that then fails. */
async function payAndFail(tx: Tx, context: Context): Promise<never> {
  await payWithin(tx, context)
  throw new Error('after its writes')
}

/** Flushes the statistics of a session immediately instead of at its end. */
const tellCounts = query(() => sql`select pg_stat_force_next_flush()` as never)

/** Creates another merchant with a funded wallet. */
async function merchantWith({ service, otherMerchant }: App, amount: string) {
  const merchant = await otherMerchant()
  const context = createContext(service, merchant.id)
  const wallet = { currency: 'USDC', description: 'Test', network: 'solana' }
  const { id: walletId } = await perform(createWallet, context, wallet)
  await depositToWallet(context, { walletId, amount, reference: 'opening' })
  return { ...merchant, walletId }
}

/** Locks the selected rows as another process would, and returns a function that releases them. */
async function holdRows({ url }: App, select: string, merchants: readonly { readonly id: string }[]) {
  const holder = new pg.Client(url)
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin')
  await holder.query(`${select} for update`, [merchants.map(({ id }) => id)])
  return () => holder.query('commit')
}

const accountsOf = 'select from accounts where merchant_id = any($1)'

/** Starts a proxy to the server that counts the Sync messages of clients: one for each round trip. */
async function countingProxy(url: string) {
  const target = new URL(url)
  const port = Number(target.port)
  let syncs = 0
  const sent: Buffer[] = []
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = createConnection({ port, host: '127.0.0.1' })
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}))
    let bytes = Buffer.alloc(0)
    // The startup message has no type byte.
    let head = 0
    near.on('data', (chunk) => {
      far.write(chunk)
      sent.push(chunk)
      for (bytes = Buffer.concat([bytes, chunk]); bytes.length >= head + 4; ) {
        const end = head + bytes.readUInt32BE(head)
        if (bytes.length < end) break
        if (head === 1 && bytes[0] === 'S'.charCodeAt(0)) syncs++
        bytes = bytes.subarray(end)
        head = 1
      }
    })
    far.on('data', (chunk) => near.write(chunk)).on('close', () => near.destroy())
    near.on('close', () => far.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = proxy.address()
  target.port = String(typeof address === 'object' && address?.port)
  /** Returns how often a text was sent. */
  const countSent = (text: string) => Buffer.concat(sent).toString('latin1').split(text).length - 1
  return { url: target.href, trips: () => syncs, said: countSent }
}

describePostgres('writes on PostgreSQL', {}, () => {
  test('a payout takes three round trips to PostgreSQL', async () => {
    const { context, trips } = await startCounted('100')
    // The first execution of a statement on a connection takes another round trip, to describe it.
    await perform(createPayout, { ...context(), idempotencyKey: 'one' }, payout)
    const before = trips()
    await perform(createPayout, { ...context(), idempotencyKey: 'two' }, payout)
    expect(trips() - before).toBe(3)
  })

  test('a payout scans no table on PostgreSQL, not even for foreign key checks', async () => {
    const { app, context } = await startCounted('100')
    const db = await openDatabase({ url: app.url, onFatal: () => {} })
    const read = async () => {
      // A session reports its statistics when it ends.
      const text =
        "select sum(seq_scan) as whole, sum(idx_scan) as some from pg_stat_user_tables where relname <> 'rail_routes'"
      const [counted] = await runSql<{ whole: string; some: string }>(app.url, text)
      return { whole: Number(counted?.whole), some: Number(counted?.some) }
    }
    const before = await read()
    for (let i = 0; i < 3; i++) await perform(createPayout, { ...context(), db, idempotencyKey: `${i}` }, payout)
    await db.close()
    await vi.waitFor(async () => expect((await read()).some - before.some).toBeGreaterThan(30))
    expect((await read()).whole).toBe(before.whole)
  })

  test('a payout looks up its idempotency key by an index, even if the table was small when the query was planned', async () => {
    const { app, context, db, said } = await startCounted('10000', 1)
    const pay = (key: string, by = db) => perform(createPayout, { ...context(), db: by, idempotencyKey: key }, payout)
    const payBy = (by: Database, count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => pay(`${count} ${i}`, by)))
    // With few rows the planner estimates the same cost for all keys of a merchant as for one.
    await payBy(app.db, 300)
    await pay('first')
    await payBy(app.db, 2_000)
    let tries = 0
    const plans = said('discardPlans')
    await vi.waitFor(async () => {
      await pay(`try ${tries++}`)
      expect(said('discardPlans')).toBeGreaterThan(plans)
    })

    const read = async () => {
      await tellCounts(db, {})
      const text =
        "select sum(idx_tup_read) as rows, sum(idx_scan) as scans from pg_stat_user_indexes where relname = 'payouts'"
      const [counted] = await runSql<{ rows: string; scans: string }>(app.url, text)
      return { rows: Number(counted?.rows), scans: Number(counted?.scans) }
    }
    const before = await read()
    for (let i = 0; i < 10; i++) await pay(`after ${i}`)
    const after = await read()
    expect(after.scans - before.scans).toBeGreaterThanOrEqual(10)
    expect(after.rows - before.rows).toBeLessThan(100)
  })

  test('concurrent payouts of one merchant share a PostgreSQL commit, and the results are in the order of the requests', async () => {
    const { context, db, trips } = await startCounted('100')
    await perform(createPayout, context(), payout)
    await new Promise((resolve) => setImmediate(resolve))
    const before = { trips: trips(), ...db.statistics() }
    const paid = await Promise.all(Array.from({ length: 41 }, () => perform(createPayout, context(), payout)))
    expect(paid.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 41 }, (_, i) => i + 2))
    const { writes, commits } = db.statistics()
    expect([writes - before.writes, commits - before.commits]).toEqual([41, 1])
    // The lock of the sequence with the reads, the debits, and the deferred writes with the commit.
    expect(trips() - before.trips).toBe(3)
  })

  test('concurrent payouts of several merchants share a PostgreSQL commit, and a rejected payout does not affect the others', async () => {
    const { app, context, db, trips } = await startCounted('100')
    const merchants = await Promise.all(Array.from({ length: 5 }, () => merchantWith(app, '3')))
    await perform(createPayout, { ...context(), idempotencyKey: 'first' }, payout)
    await perform(createPayout, context(), { ...payout, amount: '100' }).catch(() => {})
    await new Promise((resolve) => setImmediate(resolve))
    const before = { trips: trips(), commits: db.statistics().commits }
    const requests = merchants.flatMap(({ id }) =>
      Array.from({ length: 4 }, (_, i) =>
        perform(createPayout, createContext({ ...app.service, db }, id, `${i}`), payout),
      ),
    )
    const outcomes = await Promise.allSettled(requests)

    const paid = (first: number) =>
      outcomes
        .slice(first, first + 4)
        .map((each) => (each.status === 'fulfilled' ? each.value.sequence : each.reason.code))
    for (let i = 0; i < outcomes.length; i += 4) expect(paid(i)).toEqual([1, 2, 3, 'INSUFFICIENT_FUNDS'])
    expect(db.statistics().commits - before.commits).toBe(1)
    // Two more round trips find out why the rejected payouts failed.
    expect(trips() - before.trips).toBe(5)
    for (const { walletId, apiKey: key } of merchants) {
      expect((await app.rest('GET', '/api/payouts', { key })).body.data).toHaveLength(3)
      expect((await app.rest('GET', `/api/wallets/${walletId}`, { key })).body.data.balance).toBe('0.00000000')
    }
    await app.expectBooksToBalance()
  })

  test('concurrent requests with the same idempotency key create one payout on PostgreSQL', async () => {
    const { app, context } = await startCounted('100')
    const requests = Array.from({ length: 30 }, (_, i) =>
      perform(createPayout, { ...context(), idempotencyKey: i % 3 ? 'same' : `own ${i}` }, payout),
    )
    const paid = await Promise.all(requests)
    expect(new Set(paid.map(({ id }) => id)).size).toBe(11)
    await app.expectBooksToBalance()
  })

  test('a payout that waits for locked rows of its merchant delays no other merchant, and succeeds after the rows are unlocked', async () => {
    const { app, context, db } = await startCounted('100')
    const other = await merchantWith(app, '100')
    const pay = (id: string) => perform(createPayout, createContext({ ...app.service, db }, id), payout)
    const endsOf = "select from sequences where merchant_id = any($1) and name = 'payouts'"
    const letGo = await holdRows(app, endsOf, [app.merchant])

    let isPaid = false
    const pending = Promise.all([pay(app.merchant.id), pay(app.merchant.id)]).then(() => {
      isPaid = true
    })
    await Promise.all(Array.from({ length: 10 }, () => pay(other.id)))
    // Payouts that arrive while it waits are in another batch.
    await Promise.all([pay(other.id), pay(other.id)])
    expect(isPaid).toBe(false)
    await letGo()
    await pending
    await perform(createPayout, context(), payout)
    await app.expectBooksToBalance()
  })

  test('a payout that waits for the account of its wallet is not stored after another process has suspended the wallet', async () => {
    const { app, walletId, context } = await startCounted('100')
    const letGo = await holdRows(app, accountsOf, [app.merchant])
    const waiting = async () => {
      const [row] = await runSql<{ count: number }>(app.url, 'select count(*)::int from pg_locks where not granted')
      return row?.count
    }
    const paying = perform(createPayout, context(), payout).catch((error) => error.code)
    await expect.poll(waiting).toBe(1)

    let isSuspended = false
    const countAtSuspension = changeWalletStatus(app.context(), { walletId, status: 'suspended' }).then(async () => {
      isSuspended = true
      return (await readStoredRows(app)).payouts?.length
    })
    await expect.poll(async () => isSuspended || (await waiting()) === 2).toBe(true)
    await letGo()
    await paying

    expect((await readStoredRows(app)).payouts).toHaveLength((await countAtSuspension) ?? -1)
    expect((await perform(createPayout, context(), payout).catch((error) => error)).code).toBe('WALLET_NOT_FOUND')
    await app.expectBooksToBalance()
  })

  test('a payout never waits for locked rows of other merchants, even if more merchants are locked than connections exist', async () => {
    const { app, db } = await startCounted('100', 2)
    const held = await Promise.all(Array.from({ length: 6 }, () => merchantWith(app, '100')))
    const free = await Promise.all(Array.from({ length: 3 }, () => merchantWith(app, '100')))
    const pay = ({ id }: { id: string }) => perform(createPayout, createContext({ ...app.service, db }, id), payout)
    const letGo = await holdRows(app, accountsOf, held)

    const outcomes: string[] = []
    const pending = held.map((merchant) =>
      pay(merchant).then(
        () => outcomes.push('paid'),
        (error) => outcomes.push(error.message),
      ),
    )
    for (let round = 0; round < 5; round++) await Promise.all(free.map(pay))
    expect(outcomes).toEqual([])
    await letGo()
    await Promise.all(pending)
    expect(outcomes).toEqual(held.map(() => 'paid'))
    await app.expectBooksToBalance()
  })

  test('a write that waits for a lock until its deadline is rejected, and so are the writes queued behind it', async () => {
    const { app, db } = await startCounted('100')
    const merchant = await merchantWith(app, '100')
    const letGo = await holdRows(app, accountsOf, [merchant])
    const context = createContext(app.service, merchant.id)
    const pay = (tx: Tx) => payWithin(tx, context)
    const write = () => db.write(pay, { merchantId: merchant.id, deadlineMs: monotonicNowMs() + 700 })
    const first = write()
    await new Promise((resolve) => setImmediate(resolve))
    const outcomes = await Promise.allSettled([first, ...Array.from({ length: 100 }, write)])

    const late = { status: 'rejected', reason: expect.objectContaining({ message: expect.stringMatching(/too long/) }) }
    expect(outcomes).toEqual(Array.from({ length: 101 }, () => late))
    await letGo()
    expect((await db.write(pay, { merchantId: merchant.id })).sequence).toBe(1)
    await app.expectBooksToBalance()
  })

  test('a write is rejected if its merchant fills half of the write queue, while writes of other merchants are accepted', async () => {
    const { app, context, db } = await startCounted('100')
    const other = await merchantWith(app, '100')
    const letGo = await holdRows(app, accountsOf, [app.merchant])
    let isOver = false
    const { merchantId } = context()
    const pay = async (tx: Tx) => {
      if (!isOver) await payWithin(tx, context())
    }
    const wait = (isBeside = false) =>
      db.write(pay, { merchantId, ...(isBeside && { batchable: { conflictKey: null } }) })
    const requests = [wait(), ...Array.from({ length: maxQueuedWrites / 2 }, (_, i) => wait(i % 2 === 0))]
    for (const oneMore of [wait(), wait(true)])
      await expect(oneMore).rejects.toMatchObject({
        message: 'The write queue is full. Retry with the same idempotency key.',
      })
    await perform(createPayout, createContext({ ...app.service, db }, other.id), payout)
    isOver = true
    await letGo()
    await Promise.all(requests)
  })

  test('an operation that fails in a batch of payouts is rolled back, and the rest of the batch succeeds', async () => {
    const { app, context, db } = await startCounted('100')
    const { merchantId } = context()
    const failing = (tx: Tx) => payAndFail(tx, { ...context(), db })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) =>
        i % 4 === 1
          ? db.write(failing, { merchantId, batchable: { conflictKey: null } })
          : perform(createPayout, context(), payout),
      ),
    )
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(
      Array.from({ length: 12 }, (_, i) => i % 4 !== 1),
    )
    const sequences = outcomes.flatMap((each) =>
      each.status === 'fulfilled' ? [(each.value as { sequence: number }).sequence] : [],
    )
    expect(sequences.toSorted((one, another) => one - another)).toEqual(Array.from({ length: 9 }, (_, i) => i + 1))
    await app.expectBooksToBalance()
  })

  test('payouts never deadlock on PostgreSQL when two processes alternate between two wallets of a merchant', async () => {
    const { app, context, walletId } = await startCounted('1000')
    const otherWalletId = await app.wallet({ balance: '1000' })
    const other = await openDatabase({ url: app.url, onFatal: () => {} })
    onTestFinished(other.close)
    const deadlocks = async () => {
      const client = new pg.Client(app.url)
      await client.connect()
      await client.query('select pg_stat_force_next_flush()')
      const { rows } = await client.query('select deadlocks from pg_stat_database where datname = current_database()')
      await client.end()
      return Number(rows[0].deadlocks)
    }
    const before = await deadlocks()

    const pay = (i: number) => {
      const db = i % 2 ? context().db : other
      const from = i % 3 ? walletId : otherWalletId
      return perform(createPayout, { ...context(), db }, { ...payout, walletId: from })
    }
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 40 }, (_, i) => pay(i)))

    expect((await deadlocks()) - before).toBe(0)
    await app.expectBooksToBalance()
  })

  test('a rejected payout does not affect the other payouts of its PostgreSQL group commit', async () => {
    const { app, context, db, walletId } = await startCounted('30')
    const { commits } = db.statistics()
    const requests = Array.from({ length: 50 }, (_, i) =>
      perform(createPayout, context(), { ...payout, amount: i % 5 ? '1' : '100' }),
    )
    const outcomes = await Promise.allSettled(requests)
    const reasons = outcomes.map((each) => (each.status === 'fulfilled' ? 'paid' : each.reason.code))
    expect(reasons.filter((reason) => reason === 'paid')).toHaveLength(30)
    expect(reasons.filter((reason) => reason === 'INSUFFICIENT_FUNDS')).toHaveLength(20)
    // The first runs alone and is rejected; those that arrived meanwhile share a commit.
    expect(db.statistics().commits - commits).toBe(1)
    expect((await app.rest('GET', `/api/wallets/${walletId}`)).body.data.balance).toBe('0.00000000')
    await app.expectBooksToBalance()
  })

  test('an operation that fails after a statement is rolled back, and the rest of its PostgreSQL group commit succeeds', async () => {
    const { app, context, db } = await startCounted('100')
    const { merchantId } = context()
    const failing = () => db.write((tx) => payAndFail(tx, { ...context(), db }), { merchantId })
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => perform(createPayout, context(), payout)),
      failing(),
      ...Array.from({ length: 5 }, () => perform(createPayout, context(), payout)),
      failing(),
    ])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    const sequences = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(new Set(sequences.map((each) => (each as { sequence: number }).sequence)).size).toBe(10)
    await app.expectBooksToBalance()
  })

  test('payouts never deadlock when two processes make 80 concurrent payouts from two wallets of a merchant on PostgreSQL', async () => {
    const { app, context, walletId } = await startCounted('100')
    const other = await app.wallet({ balance: '100' })
    const elsewhere = await openDatabase({ url: app.url, onFatal: () => {} })
    onTestFinished(elsewhere.close)
    const contexts = [context(), { ...context(), db: elsewhere }]
    const paid = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        perform(
          createPayout,
          { ...(contexts[i % 2] as ReturnType<typeof context>) },
          { ...payout, walletId: i % 4 < 2 ? walletId : other },
        ),
      ),
    )
    expect(new Set(paid.map(({ sequence }) => sequence)).size).toBe(80)
    const text = 'select deadlocks from pg_stat_database where datname = current_database()'
    expect(await runSql(app.url, text)).toEqual([{ deadlocks: '0' }])
    await app.expectBooksToBalance()
  })
})
