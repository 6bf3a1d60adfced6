import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { appendFileSync, existsSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

type State = 'ACCEPTED' | 'COMPLETED' | 'REJECTED' | 'RETURNED'
type Order = { id: string; amount: string; currency: string; recipient: { account_number: string; bank_code: string } }
type Transfer = { order: Order; state: State; reference: string; code?: string; at: string; isTold: boolean }
type Answer = { status: number; said?: object }

const {
  RAIL_SECRET = '',
  REPORTS_URL = '',
  HOST = '127.0.0.1',
  PORT = '4200',
  BOOK_FILE = 'book.jsonl',
  PAY_AFTER_MS = '2000',
} = process.env
const key = Buffer.from(RAIL_SECRET.replace('whsec_', ''), 'base64')
if (key.length !== 32) throw new Error('Set RAIL_SECRET (whsec_…), and REPORTS_URL to report the outcome of orders')

// The journal: one line per change; the last line of an order is its state.
const book = new Map<string, Transfer>()
for (const line of existsSync(BOOK_FILE) ? readFileSync(BOOK_FILE, 'utf8').split('\n') : []) {
  try {
    const transfer: Transfer = JSON.parse(line)
    book.set(transfer.order.id, transfer)
  } catch {
    // A torn write at a crash: the request was not answered.
  }
}
const file = openSync(BOOK_FILE, 'a')

/** Syncs the change to disk before any response or report. */
function keep(transfer: Transfer): Transfer {
  appendFileSync(file, `\n${JSON.stringify(transfer)}`)
  fsyncSync(file)
  book.set(transfer.order.id, transfer)
  return transfer
}

function change(transfer: Transfer, state: State, code?: string): Transfer {
  return keep({ ...transfer, state, ...(code && { code }), at: new Date().toISOString(), isTold: false })
}

/** Replace this: returns a code if the order can't be paid. */
function rejection({ amount }: Order): string | undefined {
  return Number(amount) > 1_000_000 ? 'LIMIT_EXCEEDED' : undefined
}

/** Replace this: pays the order, idempotently by its id. This example only changes the state. */
async function pay(id: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Number(PAY_AFTER_MS)))
  const transfer = book.get(id)
  if (transfer?.state === 'ACCEPTED') tell(change(transfer, 'COMPLETED'))
}

/** Reports until acknowledged, with exponential backoff. Signs each attempt with the current time, as retries may last days. */
async function tell(transfer: Transfer, pauseMs = 1_000): Promise<void> {
  if (REPORTS_URL === '' || book.get(transfer.order.id) !== transfer) return
  const body = JSON.stringify(saidOf(transfer))
  const headers = { 'content-type': 'application/json', ...signed(`report_${randomUUID()}`, body) }
  const signal = AbortSignal.timeout(10_000)
  const answer = await fetch(REPORTS_URL, { method: 'POST', headers, body, signal }).catch(() => null)
  if (answer?.ok && book.get(transfer.order.id) === transfer) keep({ ...transfer, isTold: true })
  else if (!answer?.ok) setTimeout(tell, pauseMs, transfer, Math.min(2 * pauseMs, 3_600_000)).unref()
}

/** Always includes the id: the service accepts a response that moves money only with the id of its order. */
function saidOf({ order, state, reference, code, at }: Transfer): object {
  return { id: order.id, state, reference, code, at }
}

function signatureOf(id: unknown, time: unknown, body: Buffer | string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')}`
}

function signed(id: string, body: string): Record<string, string> {
  const time = String(Math.floor(Date.now() / 1000))
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatureOf(id, time, body) }
}

/** Whether our secret signed it within five minutes. During a key rotation there are several signatures. */
function isGenuine({ headers }: IncomingMessage, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': given } = headers
  const expected = Buffer.from(signatureOf(id, time, body))
  const isOurs = (each: Buffer) => each.length === expected.length && timingSafeEqual(each, expected)
  const signatures = String(given).split(' ')
  return signatures.some((each) => isOurs(Buffer.from(each))) && Math.abs(Date.now() / 1000 - Number(time)) <= 300
}

/** Idempotent by id: the same id with other contents is a conflict. */
function submit(order: Order): Answer {
  const known = book.get(order.id)
  if (known && JSON.stringify(known.order) !== JSON.stringify(order)) return { status: 409 }
  const transfer = known ?? take(order)
  return { status: transfer.state === 'REJECTED' ? 422 : 200, said: saidOf(transfer) }
}

function take(order: Order): Transfer {
  const code = rejection(order)
  const at = new Date().toISOString()
  const reference = `EX-${randomUUID().slice(0, 13).toUpperCase()}`
  if (code) return keep({ order, state: 'REJECTED', reference, code, at, isTold: true })
  const transfer = keep({ order, state: 'ACCEPTED', reference, at, isTold: true })
  pay(order.id)
  return transfer
}

function cancel(transfer: Transfer): Answer {
  const isOpen = transfer.state === 'ACCEPTED'
  if (isOpen) change(transfer, 'REJECTED', 'CANCELLED')
  const isCancelled = isOpen || transfer.code === 'CANCELLED'
  return {
    status: isCancelled ? 200 : 409,
    said: { id: transfer.order.id, state: isCancelled ? 'CANCELLED' : 'TOO_LATE' },
  }
}

/** Replace this: the banks that orders can go to, by currency. */
const banks: Record<string, { bank_code: string; bank_name: string }[]> = {
  NGN: [
    { bank_code: '044', bank_name: 'Access Bank' },
    { bank_code: '011', bank_name: 'First Bank of Nigeria' },
  ],
}

/** Replace this: returns the name of an account. Both calls are optional. */
function resolve(account: { account_number: string; bank_code: string }): Answer {
  const isKnown = Object.values(banks)
    .flat()
    .some(({ bank_code }) => bank_code === account.bank_code)
  return isKnown ? { status: 200, said: { ...account, account_name: 'ADA OBI' } } : { status: 422 }
}

function answerAboutBanks({ headers, method, url = '' }: IncomingMessage, body: Buffer): Answer {
  const id = String(headers['webhook-id'])
  if (method === 'POST') return id.startsWith('resolve_') ? resolve(JSON.parse(body.toString())) : { status: 401 }
  const currency = url.slice('/banks/'.length)
  return id === `banks_${currency}` ? { status: 200, said: { banks: banks[currency] ?? [] } } : { status: 401 }
}

/** The path is not signed, so `webhook-id` must name the request type and the order. */
function answerTo(request: IncomingMessage, body: Buffer): Answer {
  const [, id = '', cancels] = /^\/transfers(?:\/([\w-]+)(\/cancel)?)?$/.exec(request.url ?? '') ?? []
  const question = request.method === 'GET' ? 'find' : cancels ? 'cancel' : 'submit'
  if (!isGenuine(request, body)) return { status: 401 }
  if (request.url?.startsWith('/banks/')) return answerAboutBanks(request, body)
  const order: Order | null = question === 'submit' ? JSON.parse(body.toString()) : null
  if (request.headers['webhook-id'] !== `${question}_${order?.id ?? id}`) return { status: 401 }
  if (order) return submit(order)
  const transfer = book.get(id)
  if (!transfer) return { status: 404 }
  return question === 'cancel' ? cancel(transfer) : { status: 200, said: saidOf(transfer) }
}

createServer(async (request, response) => {
  let answer: Answer
  try {
    answer = answerTo(request, await buffer(request))
  } catch (error) {
    answer = { status: error instanceof SyntaxError ? 400 : 500 }
  }
  const { status, said = {} } = answer
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
}).listen(Number(PORT), HOST, () => {
  process.stdout.write(`The bank listens on ${PORT} and has ${book.size} orders\n`)
  for (const transfer of book.values()) {
    if (transfer.state === 'ACCEPTED') pay(transfer.order.id)
    else if (!transfer.isTold) tell(transfer)
  }
})
