import type { Socket } from 'node:net'
import { createConnection, createServer } from 'node:net'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createContext } from '../../../src/context.ts'
import { openDatabase } from '../../../src/database/open-database.ts'
import { createPayout } from '../../../src/payouts/create-payout.ts'
import { startApp } from '../../support/app.ts'
import { describePostgres } from '../../support/engines.ts'
import { perform } from '../../support/perform.ts'

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

/** An app whose merchant has so many USDC, and what it asks of the server counted: `url` passes by here. */
async function startCounted(amount: string) {
  const app = await startApp('postgres')
  const walletId = await app.wallet({ balance: amount })
  const counted = await countingProxy(app.url)
  const db = await openDatabase({ url: counted.url, onFatal: () => {} })
  onTestFinished(db.close)
  const service = { ...app.service, db }
  return { app, walletId, db, context: () => createContext(service, app.merchant.id), trips: counted.trips }
}

/** The same server by another port, where each Sync of a client, which ends what it sends at a time, is counted. */
async function countingProxy(url: string): Promise<{ url: string; trips: () => number }> {
  const target = new URL(url)
  const port = Number(target.port)
  let syncs = 0
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = createConnection({ port, host: '127.0.0.1' })
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}))
    let bytes = Buffer.alloc(0)
    // A connection's first message has no letter before its length.
    let head = 0
    near.on('data', (chunk) => {
      far.write(chunk)
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
  return { url: target.href, trips: () => syncs }
}

describePostgres('writing', {}, () => {
  test('a payout takes three round trips', async () => {
    const { context, trips } = await startCounted('100')
    // A statement's first time on a connection takes one more, which describes it.
    await perform(createPayout, { ...context(), idempotencyKey: 'one' }, payout)
    const before = trips()
    await perform(createPayout, { ...context(), idempotencyKey: 'two' }, payout)
    expect(trips() - before).toBe(3)
  })

  test('a payout reads no table whole, for what refers to a row either', async () => {
    const { app, context } = await startCounted('100')
    const db = await openDatabase({ url: app.url, onFatal: () => {} })
    const read = async () => {
      const client = new pg.Client(app.url)
      await client.connect()
      // What a session has counted is told when it ends.
      const { rows } = await client.query(
        "select sum(seq_scan) as whole, sum(idx_scan) as some from pg_stat_user_tables where relname <> 'rail_routes'",
      )
      await client.end()
      return { whole: Number(rows[0].whole), some: Number(rows[0].some) }
    }
    const before = await read()
    for (let i = 0; i < 3; i++) await perform(createPayout, { ...context(), db, idempotencyKey: `${i}` }, payout)
    await db.close()
    await vi.waitFor(async () => expect((await read()).some - before.some).toBeGreaterThan(30))
    expect((await read()).whole).toBe(before.whole)
  })

  test('payouts of a merchant that come together share a commit, and are answered in their order', async () => {
    const { context, db, trips } = await startCounted('100')
    await perform(createPayout, context(), payout)
    await new Promise((resolve) => setImmediate(resolve))
    const before = { trips: trips(), ...db.statistics() }
    const paid = await Promise.all(Array.from({ length: 41 }, () => perform(createPayout, context(), payout)))
    expect(paid.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 41 }, (_, i) => i + 2))
    const { writes, commits } = db.statistics()
    // The first runs at once, alone; the others wait for it.
    expect([writes - before.writes, commits - before.commits]).toEqual([41, 2])
    // One for the debit of each; that which holds the number comes before them, and all that is left goes with the commit.
    expect(trips() - before.trips).toBe(3 + 1 + 40 + 1)
  })

  test('two processes that pay from two wallets of a merchant in turn never wait for one another', async () => {
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

  test('whoever is refused in a group is refused alone', async () => {
    const { app, context, db, walletId } = await startCounted('30')
    const { commits } = db.statistics()
    const asked = Array.from({ length: 50 }, (_, i) =>
      perform(createPayout, context(), { ...payout, amount: i % 5 ? '1' : '100' }),
    )
    const outcomes = await Promise.allSettled(asked)
    const reasons = outcomes.map((each) => (each.status === 'fulfilled' ? 'paid' : each.reason.code))
    expect(reasons.filter((reason) => reason === 'paid')).toHaveLength(30)
    expect(reasons.filter((reason) => reason === 'INSUFFICIENT_FUNDS')).toHaveLength(20)
    // The first is alone, and refused; those that came meanwhile share a commit.
    expect(db.statistics().commits - commits).toBe(1)
    expect((await app.rest('GET', `/api/wallets/${walletId}`)).body.data.balance).toBe('0.00000000')
    await app.expectBooksToBalance()
  })

  test('whoever fails after it has written takes nobody along and leaves nothing behind', async () => {
    const { app, context, db } = await startCounted('100')
    const { merchantId } = context()
    const failing = () =>
      db.write(
        async (tx) => {
          await perform(
            createPayout,
            { ...context(), db: { ...db, write: async (operation) => operation(tx) } },
            payout,
          )
          throw new Error('after its writes')
        },
        { merchantId },
      )
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

  test('processes that pay for one merchant from several wallets do not stop each other', async () => {
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
    const client = new pg.Client({ connectionString: app.url })
    await client.connect()
    onTestFinished(() => client.end())
    const { rows } = await client.query('select deadlocks from pg_stat_database where datname = current_database()')
    expect(rows).toEqual([{ deadlocks: '0' }])
    await app.expectBooksToBalance()
  })
})
