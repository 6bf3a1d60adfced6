import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
// A project of its own imports @payout-gateway/client.
import { createClient, type Event, verifyWebhook, type WebhookEvent } from '../../clients/typescript/src/index.ts'

const { API_URL = '', API_KEY = '', WEBHOOK_SECRET = '', PORT = '4100', STATE_FILE = 'last.txt' } = process.env
if (!API_URL || !API_KEY || !WEBHOOK_SECRET) throw new Error('Set API_URL, API_KEY and WEBHOOK_SECRET (whsec_…)')
const service = createClient({ url: API_URL, apiKey: API_KEY })
const seen = new Set<string>()
let work = Promise.resolve()
let last = existsSync(STATE_FILE) ? Number(readFileSync(STATE_FILE, 'utf8')) : 0

/** Replace this. Called once per event, in order; after a crash the last event may repeat. */
function handle({ sequence, type, object }: Event | WebhookEvent): void {
  process.stdout.write(`${sequence} ${type} ${object.id} version ${object.version}\n`)
}

/** Handles the next event. If an earlier one is missing, or without an argument, reads the feed. */
async function advance(event?: WebhookEvent): Promise<void> {
  if (event && event.sequence <= last) return
  const isNext = event?.sequence === last + 1
  const events = isNext ? [event] : (await service.get('/api/events', { query: { after: last, limit: 100 } })).data
  for (const each of events) {
    await handle(each)
    last = each.sequence
    writeFileSync(`${STATE_FILE}.new`, `${last}\n`)
    renameSync(`${STATE_FILE}.new`, STATE_FILE)
  }
  if (events.length === 100) await advance()
}

/** Handles events one at a time; the feed delivers failed ones again within a minute. */
function enqueue(event?: WebhookEvent): void {
  work = work.then(() => advance(event)).catch((error) => void process.stderr.write(`${error}\n`))
}

createServer(async (request, response) => {
  const body = await buffer(request).catch(() => Buffer.alloc(0))
  const event = await verifyWebhook({ body, headers: request.headers, secrets: WEBHOOK_SECRET }).catch(() => null)
  response.writeHead(event ? 204 : 401).end()
  if (!event) return
  if (!seen.has(event.id)) enqueue(event)
  if (seen.add(event.id).size > 10_000) seen.clear()
}).listen(Number(PORT), () => enqueue())
setInterval(enqueue, 60_000)
