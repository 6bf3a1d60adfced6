import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../../src/app/open-database.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { authenticate } from '../../../src/modules/merchants/authenticate.ts'
import type { Event } from '../../../src/modules/outbox/event.ts'
import { eventId } from '../../../src/modules/outbox/event.ts'
import { eventsAfter } from '../../../src/modules/outbox/repository.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import { sampleCustomer } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import { processesOf } from '../../support/processes.ts'
import type { Change } from '../changed-source.ts'
import { unthrottled } from '../changes.ts'
import { connections, send } from '../clients.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { fillDatabase, startMain } from '../server.ts'
import type { Receipt, WebhookReceiver } from '../webhook-receiver.ts'
import { startWebhookReceiver } from '../webhook-receiver.ts'

/** Kills of each configuration. */
const kills = { ci: 4, quick: 12, long: 67 }

/** Objects that change, and the clients that change them. */
const [objects, clients] = [20, 4]

/** A silence of this length means that an event is lost: failed deliveries are retried after six seconds. */
const quietMs = 15_000

export const proof: Proof = {
  promise:
    'every event is delivered at least once, in order for each object, and none is invented, whichever process is killed',
  control: 'moving the cursor only past attempted events',
  seconds: { ci: 180, quick: 600, long: 3_000 },
  run,
}

const passesEarly: readonly Change[] = [
  {
    file: 'src/modules/webhooks/dispatcher/feed-reader.ts',
    from: '    return first === undefined ? position : first.sequence - 1',
    to: '    return first === undefined ? position : position',
  },
  {
    file: 'src/modules/webhooks/dispatcher/endpoint-worker.ts',
    from: '    if (queue.openCount() > 0) return\n',
    to: '',
  },
  {
    file: 'src/modules/webhooks/dispatcher/endpoint-worker.ts',
    from: '    if (isStopped || performance.now() - lastFlush.at >= cursorFlushIntervalMs) flush()',
    to: '    flush()',
  },
]

/** More leases than can be renewed before the first one expires. */
const shortLeases: readonly Change[] = [
  { file: 'src/modules/webhooks/dispatcher/leases.ts', from: 'const leaseMs = 30_000', to: 'const leaseMs = 3_000' },
  { file: 'src/modules/webhooks/dispatcher/leases.ts', from: 'const renewMs = 10_000', to: 'const renewMs = 1_000' },
]

/** A configuration of the service, with its number of process groups; a kill hits a group as a whole or one process. */
type Way = { readonly name: string; readonly url: string; readonly groups: number; readonly workers: number }

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const postgres = await startPostgresServer(nonDurableSettings)
  const ways: Way[] = [
    { name: 'one process', url: `sqlite:${join(folder, 'one.sqlite')}`, groups: 1, workers: 1 },
    { name: 'WORKERS=2', url: `sqlite:${join(folder, 'two.sqlite')}`, groups: 1, workers: 2 },
    { name: 'two on PostgreSQL', url: await newPostgresDatabase(postgres, 'webhooks'), groups: 2, workers: 1 },
  ]
  const figures: string[] = []
  let isHeld = true
  try {
    for (const way of ways) {
      const seen = await killOver(way, { count: kills[length], random, isControl })
      figures.push(`${way.name}: ${seen.figure}`)
      isHeld &&= seen.isHeld
      if (isControl && !isHeld) break
    }
  } finally {
    await postgres.remove()
  }
  return { isHeld, figure: figures.join('; ') }
}

type Killing = { readonly count: number; readonly random: () => number; readonly isControl: boolean }

async function killOver(way: Way, { count, random, isControl }: Killing): Promise<Outcome> {
  const { url, apiKey } = await fillDatabase(way.url)
  const { merchantId, ids } = await makeCustomers(url, apiKey)
  // Receivers reject one delivery in twenty the first time.
  const refused = new Set<string>()
  const receiver = await startWebhookReceiver(async (id) => {
    await delay(random() * 5)
    const isRefused = !refused.has(id) && random() < 0.05
    if (isRefused) refused.add(id)
    return isRefused ? 500 : 200
  })
  // Otherwise a busy machine would have hardly any delivery under way when a kill happens.
  const changes = [unthrottled, ...(isControl ? passesEarly : []), ...(way.groups > 1 ? shortLeases : [])]
  const environment = { WORKERS: String(way.workers), SECRETS_KEY: Buffer.alloc(32, 5).toString('base64') }
  const start = () => startMain({ url, environment, changes })
  const servers: Server[] = []
  for (let group = 0; group < way.groups; group++) servers.push(await start())
  const agent = connections(clients)
  const target = { port: servers[0]?.port ?? 0, apiKey }
  const created = await send(target, agent, { path: '/api/webhooks', body: { url: receiver.url } })
  if (created.status !== 201) throw new Error(`creating the endpoint failed with ${created.status}: ${created.text}`)

  const load = startLoad(() => ({ port: servers[Math.floor(random() * servers.length)]?.port ?? 0, apiKey }), ids)
  for (let kill = 0; kill < count; kill++) {
    const before = receiver.receipts.length
    const until = performance.now() + quietMs
    while (receiver.receipts.length === before && performance.now() < until) await delay(5)
    await delay(random() * 300)
    const group = Math.floor(random() * servers.length)
    const part = partOf(servers[group] as Server, random)
    if (part !== null) process.kill(part, 'SIGKILL')
    else {
      await (servers[group] as Server).kill()
      servers[group] = await start()
    }
  }
  await load.stop()
  const events = await quiet(receiver, () => eventsOf(url, merchantId))
  for (const server of servers) await server.kill()
  agent.destroy()
  receiver.close()
  return judgeReceipts(receiver.receipts, events, count)
}

/** One of several processes of a service, mostly the sender; `null` for all of them, or if there is only one. */
function partOf({ child }: Server, random: () => number): number | null {
  const chance = random()
  if (chance < 0.2) return null
  const role = chance < 0.7 ? 'sender' : 'writer'
  return processesOf(child.pid as number).find((each) => each.role === role)?.pid ?? null
}

async function makeCustomers(url: string, apiKey: string) {
  const db = await openDatabase({ url, onFatal: () => {} })
  const service = createService({ db, mode: 'sandbox' })
  const { merchantId } = await authenticate(service, apiKey)
  const context = createContext(service, merchantId)
  const ids: string[] = []
  for (let i = 0; i < objects; i++) ids.push((await perform(createCustomer, context, sampleCustomer)).id)
  await db.close()
  return { merchantId, ids }
}

const changeName =
  'mutation ($id: ID!, $name: String!) { updateCustomer(input: { customerId: $id, firstName: $name }) { __typename } }'

/** Changes customers repeatedly, several per second, whatever the outcome of each request. */
function startLoad(target: () => { port: number; apiKey: string }, ids: readonly string[]) {
  const agent = connections(clients)
  let isOver = false
  let requests = 0
  const client = async () => {
    while (!isOver) {
      const variables = { id: ids[requests++ % ids.length], name: `Ada ${requests}` }
      await send(target(), agent, { path: '/graphql', body: { query: changeName, variables } }).catch(() => delay(20))
      await delay(5)
    }
  }
  const over = Promise.all(Array.from({ length: clients }, client))
  const stop = async () => {
    isOver = true
    await over
    agent.destroy()
  }
  return { stop }
}

async function eventsOf(url: string, merchantId: string): Promise<Event[]> {
  const db = await openDatabase({ url, onFatal: () => {}, isReadOnly: true })
  const events: Event[] = []
  for (;;) {
    const more = await eventsAfter(db, { merchantId, after: events.at(-1)?.sequence ?? 0, limit: 1_000 })
    if (more.length === 0) break
    events.push(...more)
  }
  await db.close()
  // An endpoint receives no events from before its creation.
  return events.filter(({ type }) => type === 'customer.updated')
}

/** Waits until everything is delivered, or until nothing more arrives. */
async function quiet({ receipts }: WebhookReceiver, read: () => Promise<Event[]>): Promise<Event[]> {
  const events = await read()
  let [count, changedAt] = [receipts.length, performance.now()]
  while (performance.now() - changedAt < quietMs) {
    const done = new Set(receipts.flatMap(({ id, status }) => (status === 200 ? [id] : [])))
    if (done.size >= events.length) break
    await delay(100)
    if (receipts.length !== count) [count, changedAt] = [receipts.length, performance.now()]
  }
  return events
}

function judgeReceipts(receipts: readonly Receipt[], events: readonly Event[], count: number): Outcome {
  const ids = new Set(events.map(eventId))
  const invented = receipts.filter(({ id }) => !ids.has(id)).length
  const latest = new Map<string, number>()
  const delivered = new Set<string>()
  let overtaken = 0
  for (const { id, objectId, sequence, status } of receipts) {
    if (status !== 200 || delivered.has(id)) continue
    delivered.add(id)
    if ((latest.get(objectId) ?? 0) > sequence) overtaken++
    latest.set(objectId, Math.max(latest.get(objectId) ?? 0, sequence))
  }
  const again = receipts.filter(({ status }) => status === 200).length - delivered.size
  const lostCount = events.length - delivered.size
  const figure = `${count} kills, ${events.length} events, ${lostCount} lost, ${invented} invented, ${overtaken} overtaken, ${again} sent again`
  return { isHeld: lostCount === 0 && invented === 0 && overtaken === 0 && events.length > 5 * count, figure }
}
