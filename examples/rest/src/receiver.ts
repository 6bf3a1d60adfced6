import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Event, verifyWebhook } from '@payout-gateway/client'
import { service } from './client.ts'

// Follows the status of payouts. A webhook only triggers a read of the feed, which has all events in order and without gaps, also
// after a crash. So a late, lost or duplicate webhook does no harm.

type State = { last: number; webhookId?: string; secret?: string }

/** The position in the feed, and the registered endpoint. The service returns its secret only once. */
const file = 'state.json'
const state: State = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { last: 0 }
const types = ['payout.completed', 'payout.failed', 'payout.returned'] as const
let work = Promise.resolve()
let nextTry: NodeJS.Timeout | undefined

/** Replace this. Called once per event, in order; after a crash the last event may repeat. */
function handle({ sequence, type, object }: Event): void {
  process.stdout.write(`${sequence} ${type} ${object.id}\n`)
}

async function readFeed(): Promise<void> {
  for (let isFull = true; isFull; ) {
    const { data } = await service.get('/api/events', {
      query: { after: state.last, types: types.join(','), limit: 100 },
    })
    for (const event of data) {
      handle(event)
      save({ last: event.sequence })
    }
    isFull = data.length === 100
  }
}

/** Reads the feed, never concurrently; retries a failure after 5 s. */
function triggerRead(): void {
  work = work.then(readFeed).catch((error) => {
    process.stderr.write(`${error}\n`)
    clearTimeout(nextTry)
    nextTry = setTimeout(triggerRead, 5_000)
  })
}

/** Registers the webhook on the first start; later starts update its URL. */
async function register(url: string): Promise<void> {
  const body = { url, types }
  if (state.webhookId) {
    await service.put('/api/webhooks/{webhook_id}', { path: { webhook_id: state.webhookId }, body })
    return
  }
  const { data } = await service.post('/api/webhooks', { body })
  save({ webhookId: data.id, secret: data.secret })
}

function save(change: Partial<State>): void {
  writeFileSync(`${file}.new`, JSON.stringify(Object.assign(state, change)), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

const server = createServer(async (request, response) => {
  try {
    await verifyWebhook({ body: await text(request), headers: request.headers, secrets: state.secret ?? '' })
    response.writeHead(204).end()
    triggerRead()
  } catch {
    response.writeHead(401).end()
  }
})
server.listen(Number(process.env.PORT ?? 4100), '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await register(url)
  process.stdout.write(`Webhooks come to ${url}\n`)
  triggerRead()
  setInterval(triggerRead, 60_000)
})
