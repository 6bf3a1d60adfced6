import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

type Event = { id: string; type: string; sequence: number; object: { type: string; id: string; version: number } }
const { API_URL = '', API_KEY = '', WEBHOOK_SECRET = '', PORT = '4100', STATE_FILE = 'last.txt' } = process.env
const key = Buffer.from(WEBHOOK_SECRET.replace('whsec_', ''), 'base64')
if (!API_URL || !API_KEY || key.length < 24) throw new Error('Set API_URL, API_KEY and WEBHOOK_SECRET (whsec_…)')
const seen = new Set<unknown>()
let work = Promise.resolve()
let last = existsSync(STATE_FILE) ? Number(readFileSync(STATE_FILE, 'utf8')) : 0

/** Replace this. Called once per event, in order; after a crash the last event may repeat. */
function handle({ sequence, type, object }: Event): void {
  process.stdout.write(`${sequence} ${type} ${object.id} version ${object.version}\n`)
}

/** Whether our secret signed these bytes within five minutes. During a key rotation there are several signatures. */
function isGenuine({ id, time, signatures }: Record<string, unknown>, body: Buffer): boolean {
  const hash = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')
  const [expected, all] = [Buffer.from(`v1,${hash}`), String(signatures).split(' ')]
  const isOurs = (given: Buffer) => given.length === expected.length && timingSafeEqual(given, expected)
  return all.some((each) => isOurs(Buffer.from(each))) && Math.abs(Date.now() / 1000 - Number(time)) <= 300
}

/** Handles the next event. If an earlier one is missing, or without an argument, reads the feed. */
async function advance(event?: Event): Promise<void> {
  if (event && event.sequence <= last) return
  const events = event?.sequence === last + 1 ? [event] : await readFeed()
  for (const each of events) {
    await handle(each)
    last = each.sequence
    writeFileSync(`${STATE_FILE}.new`, `${last}\n`)
    renameSync(`${STATE_FILE}.new`, STATE_FILE)
  }
  if (events.length === 100) await advance()
}

async function readFeed(): Promise<Event[]> {
  const answer = await fetch(`${API_URL}/api/events?after=${last}&limit=100`, { headers: { 'x-api-key': API_KEY } })
  if (!answer.ok) throw new Error(`GET /api/events answered ${answer.status}: ${await answer.text()}`)
  return JSON.parse(await answer.text()).data
}

/** Handles events one at a time; the feed delivers failed ones again within a minute. */
function enqueue(event?: Event): void {
  work = work.then(() => advance(event)).catch((error) => void process.stderr.write(`${error}\n`))
}

createServer(async (request, response) => {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = request.headers
  const body = await buffer(request).catch(() => Buffer.alloc(0))
  if (!isGenuine({ id, time, signatures }, body)) return response.writeHead(401).end()
  response.writeHead(204).end()
  if (!seen.has(id)) enqueue(JSON.parse(body.toString()))
  if (seen.add(id).size > 10_000) seen.clear()
}).listen(Number(PORT), enqueue)
setInterval(enqueue, 60_000)
