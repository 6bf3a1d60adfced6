import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import type { Database } from '../../../src/database/database.ts'
import type { Query } from '../../../src/database/query.ts'
import { createKey, revokeKey } from '../../../src/modules/merchants/manage-keys.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import { createServerVariant } from '../../graphql/support/ask.ts'
import { patienceMs } from '../../graphql/support/listen.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, startApp } from '../../support/app.ts'
import { jsonOf } from '../../support/process.ts'

const patience = { timeout: patienceMs, interval: 20 }

const deposit = (app: App, walletId: string, service = app.service) =>
  depositToWallet(createContext(service, app.merchant.id), { walletId, amount: '1', reference: service.newId() })

/** What the feed answers over a real connection to `server`. */
async function asking(server: App['server'], app: App) {
  const address = await server.listen({ port: 0, host: '127.0.0.1' })
  return async (query: string, { key = app.merchant.apiKey, signal }: { key?: string; signal?: AbortSignal } = {}) => {
    const headers = { 'x-api-key': key }
    const answer = await fetch(`${address}/api/events?${query}`, { headers, ...(signal && { signal }) })
    return { status: answer.status, body: await jsonOf(answer), connection: answer.headers.get('connection') }
  }
}

/** A server of the same service that tells how many wait in it for something to happen. */
function serverWatched(app: App) {
  let watching = 0
  const watch: Database['watch'] = (table, call) => {
    watching++
    const stop = app.db.watch(table, call)
    return () => {
      watching--
      stop()
    }
  }
  const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, watch } } })
  return { server, isWaitedIn: () => watching > 0 }
}

const nothing = (after: number, connection = 'keep-alive') => ({
  status: 200,
  connection,
  body: { status: 'success', data: [], pagination: { after, hasMore: false } },
})
const sequences = ({ body }: { body: { data: { sequence: number }[] } }) => body.data.map(({ sequence }) => sequence)

describe.each(everyEngineAndWorkers)('a request that waits on %s', (setup) => {
  test('is answered as soon as something happens, with what is there already at once, and empty when the time is over', async () => {
    const app = await startApp(setup)
    const walletId = await app.wallet({ balance: '1' })
    const ask = await asking(app.server, app)
    expect(sequences(await ask('wait=30'))).toEqual([1, 2])
    const own = ask('after=2&wait=30')
    const ofType = ask('after=2&wait=30&types=customer.created')
    const ofAnotherType = ask('after=2&wait=1&types=payout.completed')
    const other = ask('wait=1', { key: (await app.otherMerchant()).apiKey })
    await deposit(app, walletId)
    expect(sequences(await own)).toEqual([3])
    await app.customer()
    expect(sequences(await ofType)).toEqual([4])
    expect(await other).toEqual(nothing(0))
    // It has passed what it was not asked for, and need not again.
    expect(await ofAnotherType).toEqual(nothing(4))
  })
})

describe.each(everyEngine)('a request that waits on %s', (engine) => {
  test('is not answered as if its key were good when that is revoked meanwhile, and others of the merchant go on', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const { server, isWaitedIn } = serverWatched(app)
    const ask = await asking(server, app)
    const { apiKey } = await createKey(app.service, app.merchant.id)
    const revoked = ask('after=1&wait=30', { key: apiKey })
    await expect.poll(isWaitedIn, patience).toBe(true)
    const other = ask('after=1&wait=30')
    await revokeKey(app.service, apiKey.split('_')[2] ?? '')
    expect(await revoked).toMatchObject({ status: 401, body: { status: 'failed', error: { code: 'INVALID_TOKEN' } } })
    await deposit(app, walletId)
    expect(sequences(await other)).toEqual([2])
  })

  test('is answered with what another process has committed', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const { server, isWaitedIn } = serverWatched(app)
    const ask = await asking(server, app)
    const db = await openDatabase({ url: app.url, onFatal: () => {} })
    try {
      const waiting = ask('after=1&wait=30')
      await expect.poll(isWaitedIn, patience).toBe(true)
      await deposit(app, walletId, { ...app.service, db })
      expect(sequences(await waiting)).toEqual([2])
    } finally {
      await db.close()
    }
  })

  test('waits no more when its caller has gone, or when it was answered', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const { server, isWaitedIn } = serverWatched(app)
    const ask = await asking(server, app)
    const end = new AbortController()
    const left = ask('after=1&wait=30', { signal: end.signal })
    await expect.poll(isWaitedIn, patience).toBe(true)
    end.abort()
    await expect(left).rejects.toThrow()
    await expect.poll(isWaitedIn, patience).toBe(false)

    const answered = ask('after=1&wait=30')
    await expect.poll(isWaitedIn, patience).toBe(true)
    await deposit(app, walletId)
    await answered
    expect(isWaitedIn()).toBe(false)
  })

  test('is answered with nothing when the service ends, and goes on elsewhere from where it was', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const { server, isWaitedIn } = serverWatched(app)
    const ask = await asking(server, app)
    const waiting = ask('after=1&wait=30')
    await expect.poll(isWaitedIn, patience).toBe(true)
    const closed = server.close()
    // Its caller keeps no connection on which the end would have to wait.
    expect(await waiting).toEqual(nothing(1, 'close'))
    await closed
    expect(isWaitedIn()).toBe(false)
    await deposit(app, walletId)
    expect(sequences(await app.rest('GET', '/api/events?after=1&wait=1'))).toEqual([2])
  })

  test('is not held by a service that ends while it is on its way', async () => {
    const app = await startApp(engine)
    await app.wallet()
    const { apiKey: key } = await createKey(app.service, app.merchant.id)
    const { promise: isLetOn, resolve: letOn } = Promise.withResolvers<void>()
    let isHeldUp = false
    let isOnItsWay = false
    const execute = async <Result>(query: Query, params: object) => {
      if (!isHeldUp) return app.db.execute<Result>(query, params)
      isOnItsWay = true
      await isLetOn
      return app.db.execute<Result>(query, params)
    }
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    const ask = await asking(server, app)
    isHeldUp = true
    const waiting = ask('after=1&wait=30', { key })
    await expect.poll(() => isOnItsWay, patience).toBe(true)
    const closed = server.close()
    await expect.poll(() => server.server.listening, patience).toBe(false)
    letOn()
    expect(await waiting).toEqual(nothing(1, 'close'))
    await closed
  })

  test('is refused where it waits for what was never there', async () => {
    const app = await startApp(engine)
    await app.wallet()
    const { status, body } = await app.rest('GET', '/api/events?after=2&wait=30')
    expect([status, body.error.details.fields]).toEqual([
      400,
      [
        {
          field: 'after',
          code: 'INVALID_PARAMETER',
          message: 'after must be at most 1, the sequence of the latest event',
        },
      ],
    ])
  })
})

test('no other wait is taken than whole seconds up to half a minute', async () => {
  const app = await startApp('sqlite')
  for (const wait of ['31', '-1', '1.5', '1e1', '0x1', ' 1', '999']) {
    const { status, body } = await app.rest('GET', `/api/events?wait=${encodeURIComponent(wait)}`)
    expect([wait, status, body.error?.details.fields]).toMatchObject([wait, 400, [{ field: 'wait' }]])
  }
})
