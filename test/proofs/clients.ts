import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:http'

/** A server's address and the caller's key. */
export type Target = { readonly port: number; readonly apiKey: string }

export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }

/** A body: a JSON value, or raw text that is sent unchanged. */
export type Request = {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
}

/** The body of a valid payout of 1 USDC. */
export const payoutBody = {
  currency: 'USDC',
  account_number: '0690000031',
  bank_name: 'Access Bank',
  bank_code: '044',
  amount: '1',
  recipient_name: 'Ada Obi',
  recipient_currency: 'NGN',
  recipient_country: 'Nigeria',
  payment_purpose: 'GIFTS',
}

/** A pool with a maximum number of keep-alive connections. */
export function connections(most: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: most })
}

/**
 * Sends one request and reads its whole response.
 *
 * @throws Error if the connection breaks before that: the outcome is then unknown
 */
export function send({ port, apiKey }: Target, agent: Agent, asked: Request): Promise<Answer> {
  const { method = 'POST', path, body } = asked
  const payload = typeof body === 'object' ? JSON.stringify(body) : (body ?? '')
  const headers = {
    'x-api-key': apiKey,
    ...(payload !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    ...asked.headers,
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(payload)
  })
}

/** The fields of a payout's response that proofs compare with stored rows. */
export type Acknowledged = {
  readonly narration: string
  readonly id: string
  readonly transactionId: string
  readonly balance: string
}

/** The clients' log, kept outside of the server, so that it survives the server's crash. */
export type PayoutLog = {
  /** Prefix of every narration in this log. */
  readonly name: string
  /** The narration of every requested payout; each is requested once. */
  readonly sent: Set<string>
  /** Every payout with status 200, by narration. */
  readonly acknowledged: Map<string, Acknowledged>
  /** Number of other responses by status. */
  readonly others: Map<number, number>
}

/** Creates an empty log. */
export function newPayoutLog(name: string): PayoutLog {
  return { name, sent: new Set(), acknowledged: new Map(), others: new Map() }
}

/**
 * Clients at work. `begun` settles with the first response; `over` when every client has stopped, after a stop or a
 * broken connection.
 */
export type Paying = {
  readonly begun: Promise<unknown>
  readonly stop: () => Promise<void>
  readonly over: Promise<void>
}

/** Pays out repeatedly over a number of keep-alive connections, each payout with a unique narration. */
export function startPaying(target: Target, { clients, log }: { clients: number; log: PayoutLog }): Paying {
  const agent = connections(clients)
  const first = Promise.withResolvers<void>()
  let isStopped = false
  const client = async () => {
    while (!isStopped) {
      await pay(target, agent, log)
      first.resolve()
    }
  }
  const over = Promise.allSettled(Array.from({ length: clients }, client)).then(() => agent.destroy())
  const stop = () => {
    isStopped = true
    return over
  }
  return { begun: Promise.race([first.promise, over]), stop, over }
}

async function pay(target: Target, agent: Agent, { name, sent, acknowledged, others }: PayoutLog): Promise<void> {
  const narration = `${name} ${sent.size}`
  sent.add(narration)
  const { status, text } = await send(target, agent, { path: '/api/payouts/banks', body: { ...payoutBody, narration } })
  if (status !== 200) others.set(status, (others.get(status) ?? 0) + 1)
  else acknowledged.set(narration, acknowledgedBy(text))
}

/** Reads the acknowledged payout from the body of a 200. */
export function acknowledgedBy(text: string): Acknowledged {
  type Payout = { narration: string; id: string; transaction_id: string; balance: string }
  const { narration, id, transaction_id: transactionId, balance } = (JSON.parse(text) as { data: Payout }).data
  return { narration, id, transactionId, balance }
}

/** Merges several logs. */
export function mergedLog(logs: readonly PayoutLog[]): Pick<PayoutLog, 'sent' | 'acknowledged'> {
  return {
    sent: new Set(logs.flatMap(({ sent }) => [...sent])),
    acknowledged: new Map(logs.flatMap(({ acknowledged }) => [...acknowledged])),
  }
}
