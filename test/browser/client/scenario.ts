import type { Token } from '../../../clients/typescript/src/index.ts'
import { createClient, createTokenSource, verifyWebhook } from '../../../clients/typescript/src/index.ts'

/** What a page and a worker do with the client. */
export type Task = {
  readonly url: string
  /** The page's server, which issues tokens and has the connection fail. */
  readonly site: string
  readonly webhook: { readonly body: string; readonly headers: Readonly<Record<string, string>> }
  readonly secrets: readonly string[]
}

export type Report = Awaited<ReturnType<typeof run>>

const order = {
  currency: 'USDC',
  amount: '3',
  account_number: '0690000032',
  bank_name: 'Access Bank',
  bank_code: '044',
  recipient_name: 'Ngozi Obi',
  recipient_currency: 'NGN',
  recipient_country: 'Nigeria',
} as const

/** Pays while connections die, follows the events of the payouts by both streams, and verifies a webhook. */
export async function run({ url, site, webhook, secrets }: Task) {
  const tokens = createTokenSource<Token & { readonly customer_id: string }>({ from: `${site}/token` })
  const client = createClient({ url, tokens, retry: { baseDelayMs: 20 } })
  const fail = (fault: string) => fetch(`${site}/${fault}`, { method: 'POST' })
  const stopping = new AbortController()
  const { signal } = stopping

  // The first token is invalid, and several requests find out at the same time.
  const lists = await Promise.all([1, 2, 3].map(() => client.get('/api/payouts')))
  const { customer_id } = await tokens.current()
  const pay = () => client.post('/api/payouts/banks', { body: { ...order, customer_id } })

  let after = 0
  for (let hasMore = true; hasMore; )
    ({ after, hasMore } = (await client.get('/api/events', { query: { after, limit: 100 } })).pagination)
  const feed = client.events({ after, types: ['payout.initiated'], signal })
  const document = `subscription ($after: String) {
    eventPublished(after: $after, types: [PAYOUT_INITIATED]) { payout { uuid } }
  }`
  const stream = client.subscribe(document, { after: String(after) }, { signal })

  await fail('lose')
  const first = await pay()
  const arrived = [await next(feed), (await next(stream)).data.eventPublished.payout]
  await fail('cut')
  const second = await pay()
  arrived.push(await next(feed), (await next(stream)).data.eventPublished.payout)
  stopping.abort()

  const total = (await client.get('/api/payouts')).pagination.total
  const event = await verifyWebhook({ ...webhook, secrets })
  const forged = await verifyWebhook({ ...webhook, body: `${webhook.body} `, secrets }).catch(({ reason }) => reason)
  return {
    made: total - (lists[0]?.pagination.total ?? 0),
    first: { attempts: first.attempts, isReplayed: first.isReplayed },
    paid: [first.data.id, second.data.id],
    arrived: arrived.map((each) => ('object' in each ? each.object.id : each.uuid)),
    verified: 'sequence' in event && event.sequence,
    forged,
    isEnded: (await stream.next()).done && (await feed.next()).done,
  }
}

async function next<T>(stream: AsyncGenerator<T, void>): Promise<T> {
  const { done, value } = await stream.next()
  if (done) throw new Error('The stream ended.')
  return value as T
}
