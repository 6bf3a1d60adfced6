import { describe, expect, test } from 'vitest'
import { events } from '../../db/migrations/0031-events.ts'
import { migrations } from '../../db/migrations/index.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { closeCustomer } from '../../src/modules/customers/close-customer.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { updateCustomer } from '../../src/modules/customers/update-customer.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext } from '../../src/operations/context.ts'
import type { Seen } from '../modules/events/feed.ts'
import { feedOf } from '../modules/events/feed.ts'
import { everyApi } from '../support/api-clients.ts'
import type { App, Engine } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, sampleCustomer, walletMethodBody } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'
import { rowsAt, startEarlierDatabase } from './earlier-database.ts'

const formBefore = migrations.slice(0, migrations.indexOf(events))

type Method = 'POST' | 'PUT' | 'DELETE'

/** Creates a merchant with every type of event, each at its own time, and another merchant with few. */
async function startRichApp(engine: Engine) {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  const tick = () => {
    nowMs += 1_000
  }
  const send = async (method: Method, path: string, body: object): Promise<string> => {
    tick()
    return (await app.rest(method, path, { body })).body.data?.id
  }
  const customer = async (changes = {}) => {
    tick()
    return app.customer(changes)
  }
  const [active, changed, closed] = [
    await customer({ birthDate: '1990-02-28' }),
    await customer({ customerType: 'business', businessName: 'Obi “& Sons”' }),
    await customer(),
  ]
  for (const customerId of [undefined, active, closed]) {
    tick()
    await app.wallet({ balance: '100', network: 'erc20', ...(customerId && { customerId }) })
    const owner = customerId === undefined ? {} : { customer_id: customerId }
    const bank = await send('POST', '/api/payout/methods/banks', { ...bankMethodBody, ...owner })
    await send('POST', '/api/payout/methods/wallets', { ...walletMethodBody, ...owner })
    const deleted = await send('POST', '/api/payout/methods/banks', { ...bankMethodBody, ...owner })
    for (const statuses of [[], ['COMPLETED'], ['FAILED'], ['COMPLETED', 'RETURNED']] as const) {
      const payoutId = await send('POST', '/api/payouts/banks', { ...payoutBody, amount: '2', ...owner })
      for (const status of statuses) {
        tick()
        await settlePayout(app.context(), { payoutId, status })
      }
    }
    await send('PUT', `/api/payout/methods/banks/${bank}`, { ...owner, account_name: 'Ngozi Obi' })
    await send('DELETE', `/api/payout/methods/${deleted}`, owner)
  }
  tick()
  await perform(updateCustomer, app.context(), { customerId: changed, firstName: 'Ngozi' })
  tick()
  await perform(closeCustomer, app.context(), { customerId: closed })
  // At the same time; the deposit's event is last.
  tick()
  await app.wallet({ balance: '1', assetCode: 'USDT' })

  const other = await app.otherMerchant()
  const theirs = createContext(app.service, other.id)
  const theirCustomer = await perform(createCustomer, theirs, sampleCustomer)
  tick()
  await perform(closeCustomer, theirs, { customerId: theirCustomer.id })
  return { app, other }
}

/** Starts the service on an older database after its migration. */
async function startMigrated(engine: Engine, app: App) {
  const { entries: _, ...rows } = await rowsAt(app.url)
  const before = await startEarlierDatabase(engine, formBefore, rows)
  expect(await before.migrated()).toBe(formBefore.length)
  const migrated = await startApp(engine, {
    place: { url: before.url, remove: async () => {}, open: (url) => openDatabase({ url, onFatal: () => {} }) },
    rates: [],
  })
  expect(await before.migrated()).toBe(migrations.length)
  return migrated
}

/**
 * Returns the history of a database without events: it lacks earlier states of customers and methods, and every
 * deleted method.
 */
function known(feed: readonly Seen[]) {
  const deletedIds = new Set(
    feed.filter(({ type }) => type === 'payout_method.deleted').map(({ objectId }) => objectId),
  )
  const isKnown = ({ type, objectId }: Seen) => !type.endsWith('.updated') && !deletedIds.has(objectId)
  const latest = new Map(
    feed.flatMap(({ type, objectId, data }) => (type.endsWith('.closed') ? [] : [[objectId, data]])),
  )
  return feed.filter(isKnown).map((event, i) => {
    const isAsNow = event.type === 'customer.created' || event.type === 'payout_method.created'
    const data = isAsNow ? (latest.get(event.objectId) as string) : event.data
    return withMoment({ ...event, data, sequence: i + 1 })
  })
}

/** Returns an event with the timestamp part of its id. */
function withMoment({ id, ...event }: Seen) {
  return { ...event, moment: id.slice(0, 'evt_01980c60-1f2e'.length) }
}

describe.each(everyEngine)('a database of the version without events, on %s', (engine) => {
  test('gets events for its whole history in the original order and times, and then records new events', async () => {
    const { app, other } = await startRichApp(engine)
    const migrated = await startMigrated(engine, app)
    for (const door of everyApi) {
      for (const { apiKey: key } of [app.merchant, other]) {
        const feed = await feedOf(door, app, { key })
        const history = await feedOf(door, migrated, { key, limits: [7, 100] })
        expect(history.map(withMoment)).toEqual(known(feed))
        expect(new Set(history.map(({ type }) => type)).size).toBe(key === other.apiKey ? 2 : 9)
      }
    }
    await migrated.expectBooksToBalance()

    const context = createContext(migrated.service, app.merchant.id)
    const { length: before } = await feedOf('rest', migrated, { key: app.merchant.apiKey })
    const wallet = await migrated.rest('GET', '/api/events?types=wallet.created&limit=1', { key: app.merchant.apiKey })
    await depositToWallet(context, { walletId: wallet.body.data[0].object.id, amount: '1', reference: 'after' })
    const [next] = await feedOf('rest', migrated, { key: app.merchant.apiKey, after: before })
    expect(next).toMatchObject({ sequence: before + 1, type: 'wallet.transaction.inbound', version: 1 })
    await migrated.expectBooksToBalance()
  })
})
