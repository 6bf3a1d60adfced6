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

const pollOptions = { timeout: patienceMs, interval: 20 }

const deposit = (app: App, walletId: string, service = app.service) =>
  depositToWallet(createContext(service, app.merchant.id), { walletId, amount: '1', reference: service.newId() })

async function startFeedClient(server: App['server'], app: App) {
  const address = await server.listen({ port: 0, host: '127.0.0.1' })
  return async (query: string, { key = app.merchant.apiKey, signal }: { key?: string; signal?: AbortSignal } = {}) => {
    const headers = { 'x-api-key': key }
    const response = await fetch(`${address}/api/events?${query}`, { headers, ...(signal && { signal }) })
    return { status: response.status, body: await jsonOf(response), connection: response.headers.get('connection') }
  }
}

/** A server of the same service that reports whether a request in it waits for events. */
function createWatchedServer(app: App) {
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
  return { server, hasWaitingRequest: () => watching > 0 }
}

const emptyPage = (after: number, connection = 'keep-alive') => ({
  status: 200,
  connection,
  body: { status: 'success', data: [], pagination: { after, hasMore: false } },
})
const sequences = ({ body }: { body: { data: { sequence: number }[] } }) => body.data.map(({ sequence }) => sequence)

describe.each(everyEngineAndWorkers)('a long-polling request on %s', (setup) => {
  test('returns existing events immediately, a new event as soon as it is recorded, or an empty page at the timeout', async () => {
    const app = await startApp(setup)
    const walletId = await app.wallet({ balance: '1' })
    const ask = await startFeedClient(app.server, app)
    expect(sequences(await ask('wait=30'))).toEqual([1, 2])
    const merchantWait = ask('after=2&wait=30')
    const typeWait = ask('after=2&wait=30&types=customer.created')
    const otherTypeWait = ask('after=2&wait=1&types=payout.completed')
    const otherMerchantWait = ask('wait=1', { key: (await app.otherMerchant()).apiKey })
    await deposit(app, walletId)
    expect(sequences(await merchantWait)).toEqual([3])
    await app.customer()
    expect(sequences(await typeWait)).toEqual([4])
    expect(await otherMerchantWait).toEqual(emptyPage(0))
    // The cursor has moved past the events of other types.
    expect(await otherTypeWait).toEqual(emptyPage(4))
  })
})

describe.each(everyEngine)('a waiting long-polling request on %s', (engine) => {
  test('ends with 401 when its API key is revoked, while other requests of the merchant continue', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const { server, hasWaitingRequest: isWaitedIn } = createWatchedServer(app)
    const ask = await startFeedClient(server, app)
    const { apiKey } = await createKey(app.service, app.merchant.id)
    const revoked = ask('after=1&wait=30', { key: apiKey })
    await expect.poll(isWaitedIn, pollOptions).toBe(true)
    const other = ask('after=1&wait=30')
    await revokeKey(app.service, apiKey.split('_')[2] ?? '')
    expect(await revoked).toMatchObject({ status: 401, body: { status: 'failed', error: { code: 'INVALID_TOKEN' } } })
    await deposit(app, walletId)
    expect(sequences(await other)).toEqual([2])
  })

  test('returns an event that another process committed', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const { server, hasWaitingRequest: isWaitedIn } = createWatchedServer(app)
    const ask = await startFeedClient(server, app)
    const db = await openDatabase({ url: app.url, onFatal: () => {} })
    try {
      const response = ask('after=1&wait=30')
      await expect.poll(isWaitedIn, pollOptions).toBe(true)
      await deposit(app, walletId, { ...app.service, db })
      expect(sequences(await response)).toEqual([2])
    } finally {
      await db.close()
    }
  })

  test('stops watching the database when the client disconnects or the response is sent', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const { server, hasWaitingRequest: isWaitedIn } = createWatchedServer(app)
    const ask = await startFeedClient(server, app)
    const end = new AbortController()
    const aborted = ask('after=1&wait=30', { signal: end.signal })
    await expect.poll(isWaitedIn, pollOptions).toBe(true)
    end.abort()
    await expect(aborted).rejects.toThrow()
    await expect.poll(isWaitedIn, pollOptions).toBe(false)

    const response = ask('after=1&wait=30')
    await expect.poll(isWaitedIn, pollOptions).toBe(true)
    await deposit(app, walletId)
    await response
    expect(isWaitedIn()).toBe(false)
  })

  test('gets an empty page when the server closes, and the cursor in that page is valid at another server', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const { server, hasWaitingRequest: isWaitedIn } = createWatchedServer(app)
    const ask = await startFeedClient(server, app)
    const response = ask('after=1&wait=30')
    await expect.poll(isWaitedIn, pollOptions).toBe(true)
    const closed = server.close()
    // The response closes the connection, so closing the server need not wait for it.
    expect(await response).toEqual(emptyPage(1, 'close'))
    await closed
    expect(isWaitedIn()).toBe(false)
    await deposit(app, walletId)
    expect(sequences(await app.rest('GET', '/api/events?after=1&wait=1'))).toEqual([2])
  })

  test('gets an empty page when the server closes during the first database query of the request', async () => {
    const app = await startApp(engine)
    await app.wallet()
    const { apiKey: key } = await createKey(app.service, app.merchant.id)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let isBlocking = false
    let isBlocked = false
    const execute = async <Result>(query: Query, params: object) => {
      if (!isBlocking) return app.db.execute<Result>(query, params)
      isBlocked = true
      await released
      return app.db.execute<Result>(query, params)
    }
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    const ask = await startFeedClient(server, app)
    isBlocking = true
    const response = ask('after=1&wait=30', { key })
    await expect.poll(() => isBlocked, pollOptions).toBe(true)
    const closed = server.close()
    await expect.poll(() => server.server.listening, pollOptions).toBe(false)
    release()
    expect(await response).toEqual(emptyPage(1, 'close'))
    await closed
  })

  test('is rejected if `after` exceeds the sequence number of the latest event', async () => {
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

test('a long-polling request is rejected if `wait` is not a whole number of seconds from 0 to 30', async () => {
  const app = await startApp('sqlite')
  for (const wait of ['31', '-1', '1.5', '1e1', '0x1', ' 1', '999']) {
    const { status, body } = await app.rest('GET', `/api/events?wait=${encodeURIComponent(wait)}`)
    expect([wait, status, body.error?.details.fields]).toMatchObject([wait, 400, [{ field: 'wait' }]])
  }
})
