import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../../src/app/open-database.ts'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { setRoute } from '../../../src/modules/rails/orders/rail-routes.ts'
import { createService } from '../../../src/operations/context.ts'
import { freePort } from '../../support/free-port.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import { processesOf } from '../../support/processes.ts'
import { decisionOf, readBooks } from '../bank-books.ts'
import type { Change } from '../changed-source.ts'
import { connections, payoutBody, send } from '../clients.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { fillDatabase, startMain } from '../server.ts'

/** Payouts and kills of each configuration. */
const sizes = {
  ci: { payouts: 150, kills: 4 },
  quick: { payouts: 600, kills: 10 },
  long: { payouts: 3_400, kills: 67 },
}

const clients = 16

/** A payout without a decision after this time is stuck. */
const stuckMs = 60_000

export const proof: Proof = {
  promise:
    'the books of a bank and ours agree exactly, and no order is placed twice, whatever is lost, doubled, late or killed',
  control: 'treating an unknown outcome as unknown instead of failed',
  seconds: { ci: 240, quick: 600, long: 3_000 },
  run,
}

/** Scales time down: a poll after ten seconds happens after fifty milliseconds. */
const faster: readonly Change[] = [
  {
    file: 'src/modules/rails/orders/poll-schedule.ts',
    from: 'const [second, minute, hour] = [1_000, 60_000, 3_600_000]',
    to: 'const [second, minute, hour] = [5, 50, 300]',
  },
  {
    file: 'src/modules/rails/orders/claim-order.ts',
    from: 'const claimMarginMs = 30_000',
    to: 'const claimMarginMs = 500',
  },
  { file: 'src/modules/rails/orders/circuit-breaker.ts', from: '[5_000, 5 * 60_000]', to: '[50, 200]' },
  { file: 'src/modules/rails/adapters/http-rail.ts', from: 'wholeMs: 30_000', to: 'wholeMs: 400' },
  {
    file: 'src/modules/rails/orders/rail-worker.ts',
    from: 'const pollIntervalMs = 1_000',
    to: 'const pollIntervalMs = 20',
  },
  {
    file: 'src/modules/rails/orders/receive-reports.ts',
    from: 'const unreadAfterMs = 10_000',
    to: 'const unreadAfterMs = 200',
  },
]

const unknownIsFailed: readonly Change[] = [
  {
    file: 'src/modules/rails/orders/record-response.ts',
    from: "  if (railOrder.state !== 'SUBMITTING') return updateRailOrder(tx, railOrder, nextPoll)\n",
    to: "  if (railOrder.state !== 'SUBMITTING') return updateRailOrder(tx, railOrder, nextPoll)\n  if (failure) return applyReport(tx, context, { railOrder, report: { state: 'REJECTED' }, isResponse: true })\n",
  },
]

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

/** A configuration of the service, with its number of process groups. */
type Way = { readonly name: string; readonly url: string; readonly groups: number; readonly workers: number }

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const postgres = await startPostgresServer(nonDurableSettings)
  const ways: Way[] = [
    { name: 'one process', url: `sqlite:${join(folder, 'one.sqlite')}`, groups: 1, workers: 1 },
    { name: 'WORKERS=2', url: `sqlite:${join(folder, 'two.sqlite')}`, groups: 1, workers: 2 },
    { name: 'two on PostgreSQL', url: await newPostgresDatabase(postgres, 'rails'), groups: 2, workers: 1 },
  ]
  const figures: string[] = []
  const held: boolean[] = []
  try {
    for (const [place, way] of ways.entries()) {
      const seen = await payOver(way, { ...sizes[length], random: randomFrom(seed + place), isControl, folder, place })
      figures.push(`${way.name}: ${seen.figure}`)
      held.push(seen.isHeld)
    }
  } finally {
    await postgres.remove()
  }
  // Without its protection each configuration must break.
  return { isHeld: isControl ? held.includes(true) : !held.includes(false), figure: figures.join('; ') }
}

type Paying = {
  readonly payouts: number
  readonly kills: number
  readonly random: () => number
  readonly isControl: boolean
  readonly folder: string
  readonly place: number
}

async function payOver(way: Way, { payouts, kills, random, isControl, folder, place }: Paying): Promise<Outcome> {
  const { url, apiKey } = await fillDatabase(way.url)
  await withDatabase(url, (service) => setRoute(service, { rail: 'bank' }))
  const bank = await startBank({ folder, place, random })
  const changes = [...faster, ...(isControl ? unknownIsFailed : [])]
  const environment = {
    WORKERS: String(way.workers),
    RAILS: `bank:http://127.0.0.1:${bank.port}`,
    RAIL_SECRET_BANK: secret,
  }
  const start = () => startMain({ url, environment, changes })
  const servers: Server[] = []
  for (let group = 0; group < way.groups; group++) servers.push(await start())
  const anyPort = () => servers[Math.floor(random() * servers.length)]?.port ?? 0
  const tellBank = () => bank.reportTo(`http://127.0.0.1:${anyPort()}/rails/bank/reports`)
  tellBank()

  let isOver = false
  const killing = (async () => {
    for (let kill = 0; kill < kills && !isOver; kill++) {
      await delay(200 + random() * 600)
      if (random() < 0.3) await bank.restart()
      else await killPart(servers, start, random)
      tellBank()
    }
  })()
  const acknowledged = await payAll({ target: () => ({ port: anyPort(), apiKey }), payouts })
  await killing
  isOver = true
  const decided = await waitForAll({ target: () => ({ port: anyPort(), apiKey }), ids: acknowledged })
  for (const server of servers) await server.kill()
  bank.kill()
  return judge({ url, decided, file: bank.file, kills })
}

async function withDatabase<Result>(url: string, use: (service: ReturnType<typeof createService>) => Promise<Result>) {
  const db = await openDatabase({ url, onFatal: () => {} })
  try {
    return await use(createService({ db, mode: 'sandbox' }))
  } finally {
    await db.close()
  }
}

/** All of a process group, or one member. */
async function killPart(servers: Server[], start: () => Promise<Server>, random: () => number): Promise<void> {
  const group = Math.floor(random() * servers.length)
  const server = servers[group] as Server
  const parts = processesOf(server.child.pid as number).filter(({ role }) => role === 'sender' || role === 'writer')
  const part = parts[Math.floor(random() * (parts.length + 1))]
  if (part) {
    process.kill(part.pid, 'SIGKILL')
    return
  }
  await server.kill()
  servers[group] = await start()
}

/** Starts a bank in a separate process; it may be killed and restarted on its books. */
async function startBank({ folder, place, random }: Pick<Paying, 'folder' | 'place' | 'random'>) {
  const file = join(folder, `bank-${place}.jsonl`)
  const address = join(folder, `bank-${place}.address`)
  writeFileSync(file, '')
  const port = await freePort()
  const program = join(import.meta.dirname, '../bank-server.ts')
  const start = async () => {
    const seed = String(Math.floor(random() * 2 ** 31))
    const child = spawn(process.execPath, [program, String(port), file, seed, secret, address], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    return child
  }
  let child: ChildProcess = await start()
  return {
    port,
    file,
    reportTo: (url: string) => writeFileSync(address, url),
    restart: async () => {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      await ended
      child = await start()
    },
    kill: () => child.kill('SIGKILL'),
  }
}

type Asking = { readonly target: () => { port: number; apiKey: string } }

/** Makes every payout, each retried with its key until it is acknowledged; returns their ids. */
async function payAll({ target, payouts }: Asking & { payouts: number }): Promise<string[]> {
  const agent = connections(clients)
  const ids: string[] = []
  let next = 0
  const client = async () => {
    while (next < payouts) {
      const key = `payout-${next++}`
      for (;;) {
        const request = {
          path: '/api/payouts/banks',
          headers: { 'idempotency-key': key },
          body: { ...payoutBody, amount: '0.01' },
        }
        const answered = await send(target(), agent, request).catch(() => null)
        if (answered?.status === 200) {
          ids.push(JSON.parse(answered.text).data.id)
          break
        }
        await delay(20)
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  return ids
}

/** A payout's status, by the order that the bank knows. */
type Decided = { readonly status: string; readonly orderId: string }

/** Polls each payout until it has the bank's final outcome, or until nothing changes any more. */
async function waitForAll({ target, ids }: Asking & { ids: readonly string[] }): Promise<Decided[]> {
  const agent = connections(clients)
  const decided = new Map<string, Decided>()
  let changedAt = performance.now()
  while (performance.now() - changedAt < stuckMs) {
    const open = ids.filter((id) => !isOver(decided.get(id)))
    if (open.length === 0) break
    for (const id of open) {
      const answered = await send(target(), agent, { method: 'GET', path: `/api/payouts/${id}` }).catch(() => null)
      if (answered?.status !== 200) continue
      const { status, reference_id: orderId } = JSON.parse(answered.text).data
      if (decided.get(id)?.status !== status) changedAt = performance.now()
      decided.set(id, { status, orderId })
    }
    await delay(50)
  }
  agent.destroy()
  return ids.map((id) => decided.get(id) ?? { status: 'PROCESSING', orderId: id })
}

const statusOf = { COMPLETED: 'COMPLETED', REJECTED: 'FAILED', RETURNED: 'RETURNED' } as const

/**
 * Whether it has the bank's final outcome; a returned payout is completed first, and polling may have stopped by
 * then.
 */
function isOver(payout: Decided | undefined): boolean {
  if (!payout) return false
  if (payout.status === 'FAILED') return true
  const expected = statusOf[decisionOf(payout.orderId)]
  return payout.status === expected || (expected === 'RETURNED' && payout.status === 'COMPLETED')
}

type Judged = {
  readonly url: string
  readonly decided: readonly Decided[]
  readonly file: string
  readonly kills: number
}

async function judge({ url, decided, file, kills }: Judged): Promise<Outcome> {
  const books = readBooks(file)
  const ordered = new Set(books.map(({ id }) => id))
  const ours = new Set(decided.map(({ orderId }) => orderId))
  const twice = books.length - ordered.size
  const invented = [...ordered].filter((id) => !ours.has(id)).length
  const stuck = decided.filter((payout) => !isOver(payout)).length
  // The bank has paid and we have refunded, or the bank has not paid and we report that it has.
  const differing = decided.filter(({ status, orderId }) => {
    const isPaidThere = ordered.has(orderId) && decisionOf(orderId) !== 'REJECTED'
    return (status === 'FAILED' && isPaidThere) || (status !== 'FAILED' && status !== 'PROCESSING' && !isPaidThere)
  }).length
  const { balanced } = await withDatabase(url, (service) => auditBooks(service))
  const figure =
    `${decided.length} payouts, ${kills} kills, ${books.length} orders there, ${twice} twice, ${invented} of no payout, ` +
    `${differing} differing, ${stuck} stuck${balanced ? '' : ', the books do not balance'}`
  return { isHeld: twice + invented + differing + stuck === 0 && balanced, figure }
}
