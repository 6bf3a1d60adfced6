import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../../src/app/open-database.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { setRate } from '../../../src/modules/pricing/rates.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import { perform } from '../../support/perform.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import type { Change } from '../changed-source.ts'
import type { Answer, Request } from '../clients.ts'
import { connections, payoutBody, send } from '../clients.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { makeDatabase, startMain } from '../server.ts'

const clients = 64
const readers = 4
const kills = { ci: 6, quick: 20, long: 200 }

export const proof: Proof = {
  promise: 'every reader sees every event once and in order, and no change lacks its event',
  control: 'writing an event in the transaction of its change',
  seconds: { ci: 240, quick: 400, long: 4_000 },
  run,
}

const recordsEventLater: Change = {
  file: 'src/modules/outbox/record-event.ts',
  from: '  await tx.deferred.update<DeferredEvent | null>(',
  to: `  const { db } = arguments[1]
  if (event.type.startsWith('payout.')) {
    setTimeout(() => db.write((later) => storeEvents(later, merchantId, { event, previous: null, count: 1 })).catch(() => {}), 50)
    return
  }
  await tx.deferred.update<DeferredEvent | null>(`,
}

/** Concurrent services; one at a time is killed and restarted. */
type Services = {
  readonly name: string
  readonly servers: Promise<Server>[]
  readonly start: () => Promise<Server>
  readonly apiKey: string
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const changes = isControl ? [recordsEventLater] : []
  const onSqlite = await makeDatabase(join(folder, 'payouts.sqlite'))
  const environment = { WORKERS: '2' }
  const sqlite = startServices('SQLite', 1, onSqlite.apiKey, () =>
    startMain({ url: onSqlite.url, changes, environment }),
  )
  const outcomes = [await watch(sqlite, { kills: kills[length], seed })]

  // Only services are killed here.
  const server = await startPostgresServer(nonDurableSettings)
  try {
    const url = await newPostgresDatabase(server, 'events')
    const apiKey = await fillDatabase(url)
    const postgres = startServices('PostgreSQL', 2, apiKey, () => startMain({ url, changes }))
    outcomes.push(await watch(postgres, { kills: kills[length], seed: seed + 1 }))
  } finally {
    await server.remove()
  }
  return {
    isHeld: outcomes.every(({ isHeld }) => isHeld),
    figure: outcomes.map(({ figure }) => figure).join('; '),
  }
}

function startServices(name: string, count: number, apiKey: string, start: () => Promise<Server>): Services {
  return { name, servers: Array.from({ length: count }, start), start, apiKey }
}

async function fillDatabase(url: string): Promise<string> {
  const db = await openDatabase({ url, onFatal: () => {} })
  const service = createService({ db, mode: 'sandbox' })
  const { id, apiKey } = await createMerchant(service, { name: 'Proof' })
  await setRate(service, { fromCode: 'USDC', toCode: 'NGN', rate: '1500' })
  const context = createContext(service, id)
  const wallet = await perform(createWallet, context, { currency: 'USDC', description: 'Proof', network: 'erc20' })
  await depositToWallet(context, { walletId: wallet.id, amount: '1000000000', reference: 'opening' })
  await db.close()
  return apiKey
}

type Seen = { readonly sequence: number; readonly type: string; readonly objectId: string }

type Work = {
  readonly ask: (asked: Request) => Promise<Answer>
  readonly paid: Set<string>
  readonly completed: Set<string>
  readonly faults: Set<string>
  isOver: boolean
}

async function watch(services: Services, { kills, seed }: { kills: number; seed: number }): Promise<Outcome> {
  const random = randomFrom(seed)
  const { servers, start, apiKey } = services
  await Promise.all(servers)
  const agent = connections(clients + readers)
  const ask = async (asked: Request): Promise<Answer> => {
    for (;;) {
      const server = await (servers[Math.floor(random() * servers.length)] as Promise<Server>)
      const response = await send({ port: server.port, apiKey }, agent, asked).catch(() => null)
      // The outcome is unknown: retry with the same key.
      if (response !== null && response.status !== 503) return response
      await delay(10)
    }
  }
  const work: Work = { ask, paid: new Set(), completed: new Set(), faults: new Set(), isOver: false }
  const paying = Promise.all(Array.from({ length: clients }, (_, client) => payOn(work, client)))
  const feeds = Array.from({ length: readers }, (): Seen[] => [])
  const reading = feeds.map((seen) => readOn(work, seen))
  for (let kill = 0; kill < kills; kill++) {
    await delay(300 + random() * 900)
    const place = Math.floor(random() * servers.length)
    const killed = servers[place] as Promise<Server>
    servers[place] = killed.then(({ kill }) => kill()).then(start)
    await servers[place]
  }
  work.isOver = true
  await paying
  // In a control, late events may still arrive.
  await delay(300)
  const latest = await latestOf(ask)
  for (const [place, seen] of feeds.entries()) {
    await Promise.race([reading[place], delay(30_000, null, { ref: false })])
    while ((seen.at(-1)?.sequence ?? 0) < latest) if (!(await readSome(work, seen, 0))) break
  }
  await Promise.all(servers.map(async (server) => (await server).kill()))
  agent.destroy()
  const faults = [...new Set([...work.faults, ...feeds.flatMap((seen) => faultsOf(seen, work, latest))])]
  const figure = `${services.name}: ${kills} kills, ${clients} clients, ${work.paid.size} payouts, ${latest} events, ${readers} readers`
  if (faults.length > 0) return { isHeld: false, figure: `${figure}; ${faults.slice(0, 3).join('; ')}` }
  return { isHeld: work.paid.size > 20 * kills, figure: `${figure}, none missing, none twice` }
}

/** Pays repeatedly, each payout with its own key until it is acknowledged, and completes every third. */
async function payOn(work: Work, client: number): Promise<void> {
  const { ask, paid, completed } = work
  for (let number = 0; !work.isOver; number++) {
    const key = `${client} ${number}`
    const response = await ask({ path: '/api/payouts/banks', headers: { 'idempotency-key': key }, body: payoutBody })
    if (response.status !== 200) throw new Error(`a payout got ${response.status}: ${response.text}`)
    const { id } = (JSON.parse(response.text) as { data: { id: string } }).data
    paid.add(id)
    if (number % 3 !== 0) continue
    const query = `mutation { simulatePayout(input: { payoutId: "${id}", status: COMPLETED }) { __typename } }`
    await ask({ path: '/graphql', body: { query } })
    completed.add(id)
  }
}

async function readOn(work: Work, seen: Seen[]): Promise<void> {
  while (!work.isOver) await readSome(work, seen, 2)
}

/** Reads the events after the last one seen; returns whether there were any. */
async function readSome({ ask, faults }: Work, seen: Seen[], wait: number): Promise<boolean> {
  const after = seen.at(-1)?.sequence ?? 0
  const { status, text } = await ask({ method: 'GET', path: `/api/events?after=${after}&limit=100&wait=${wait}` })
  if (status !== 200) {
    faults.add(`reading events failed with ${status}: ${text.slice(0, 100)}`)
    await delay(100)
    return false
  }
  type Event = { sequence: number; type: string; object: { id: string } }
  const events = (JSON.parse(text) as { data: Event[] }).data
  for (const { sequence, type, object } of events) seen.push({ sequence, type, objectId: object.id })
  return events.length > 0
}

async function latestOf(ask: Work['ask']): Promise<number> {
  const { text } = await ask({ method: 'GET', path: '/api/events?after=2000000000' })
  return Number(/must be at most (\d+)/.exec(text)?.[1])
}

function faultsOf(seen: readonly Seen[], { paid, completed }: Work, latest: number): string[] {
  const faults: string[] = []
  for (const [place, { sequence }] of seen.entries()) {
    if (sequence !== place + 1) faults.push(`event ${place + 1} has the sequence ${sequence}`)
    if (faults.length > 0) break
  }
  if (seen.length !== latest) faults.push(`${seen.length} of ${latest} events were seen`)
  const expected = { 'payout.initiated': paid, 'payout.completed': completed }
  for (const [type, ids] of Object.entries(expected)) {
    const reported = seen.filter((event) => event.type === type).map(({ objectId }) => objectId)
    const once = new Set(reported)
    const missing = [...ids].filter((id) => !once.has(id))
    if (missing.length > 0) faults.push(`${missing.length} of ${ids.size} have no ${type}`)
    if (once.size !== reported.length) faults.push(`some have ${type} twice`)
    if (reported.some((id) => !ids.has(id))) faults.push(`some have ${type} and were never acknowledged`)
  }
  return faults
}
