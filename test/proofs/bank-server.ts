import { createHmac } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { BankEntry } from './bank-books.ts'
import { decisionOf } from './bank-books.ts'
import { randomFrom } from './proof.ts'

// A bank with its books in a file, which pays each id once. It drops requests and responses, is slow, and sends
// reports late, twice or never. It writes each entry to the file before responding, so it may be killed at any
// moment.

const [, , portText = '', file = '', seed = '', secret = '', reportTo = ''] = process.argv
const random = randomFrom(Number(seed))
const taken = new Map<string, BankEntry>()
if (existsSync(file)) for (const line of readFileSync(file, 'utf8').split('\n')) if (line) note(JSON.parse(line))

function note(entry: BankEntry): void {
  taken.set(entry.id, entry)
}

/** An order's progress: it is accepted first, and decided a little later. */
function stateOf({ id, at }: BankEntry): { id: string; state: string; reference: string } {
  const reference = `B-${id.slice(-12)}`
  const age = Date.now() - at
  const decision = decisionOf(id)
  if (decision === 'REJECTED' || age < 30) return { id, state: age < 30 ? 'ACCEPTED' : 'REJECTED', reference }
  return { id, state: decision === 'RETURNED' && age > 300 ? 'RETURNED' : 'COMPLETED', reference }
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (random() < 0.1) return void request.socket.destroy()
  await delay(random() < 0.05 ? 700 : random() * 5)
  const id = /^\/transfers(?:\/([^/]+))?/.exec(request.url ?? '')?.[1]
  const say = (status: number, body: object) => {
    if (random() < 0.1) request.socket.destroy()
    else if (random() < 0.05) response.writeHead(503).end('try again')
    else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  if (request.method === 'GET') {
    const entry = taken.get(id ?? '')
    return entry ? say(200, stateOf(entry)) : say(404, {})
  }
  const order = JSON.parse(Buffer.concat(chunks).toString()) as { id: string; amount: string }
  // Twice, as by a network that repeats packets.
  for (let time = random() < 0.1 ? 0 : 1; time < 2; time++) take(order)
  say(201, stateOf(taken.get(order.id) as BankEntry))
}

function take({ id, amount }: { id: string; amount: string }): void {
  if (taken.has(id)) return
  const entry = { id, amount, at: Date.now() }
  appendFileSync(file, `${JSON.stringify(entry)}\n`)
  note(entry)
  void report(entry)
}

/** Reports some orders, some of these twice, and some out of order. */
async function report(entry: BankEntry): Promise<void> {
  for (let time = 0; time < 3; time++) {
    await delay(50 + random() * 400)
    if (random() < 0.5) continue
    const body = JSON.stringify(stateOf(entry))
    const [id, seconds] = [`msg_${entry.id}_${time}`, Math.floor(Date.now() / 1000)]
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${signature}`,
    }
    const to = existsSync(reportTo) ? readFileSync(reportTo, 'utf8') : ''
    for (let copy = random() < 0.2 ? 0 : 1; copy < 2; copy++) {
      await fetch(to, { method: 'POST', headers, body }).catch(() => {})
    }
  }
}

const server = createServer((request, response) => {
  respond(request, response).catch(() => request.socket.destroy())
})
server.listen(Number(portText), '127.0.0.1', () => process.stdout.write('ready\n'))
