import { describe, expect, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { bodyLimitBytes } from '../../src/server/http/http-errors.ts'
import { payoutBody } from '../support/bodies.ts'
import { cli, createDemoInstallation, startService } from '../support/process.ts'
import type { Front } from './support/fronts.ts'
import {
  answerTo,
  ask,
  hasProgram,
  startPlainNginx,
  startRelay,
  startShippedCaddy,
  startShippedNginx,
} from './support/fronts.ts'

const programs = { nginx: hasProgram('nginx', '-v'), caddy: hasProgram('caddy', 'version') }
const missing = Object.entries(programs).flatMap(([name, isThere]) => (isThere ? [] : [name]))
// Without the proxies CI fails, and other runs report the skipped tests.
const isLeftOut = missing.length > 0 && !process.env.CI
if (isLeftOut) {
  process.stderr.write(`\nSKIPPED: the tests behind proxies, because of missing ${missing.join(' and ')}. `)
  process.stderr.write('Debian has them: apt-get install nginx-light caddy\n\n')
}

const fronts: readonly (readonly [name: string, start: (upstream: number) => Promise<Front>])[] = [
  ['nginx as Debian ships it', startPlainNginx],
  ['nginx by deploy/nginx.conf', startShippedNginx],
  ['Caddy by deploy/Caddyfile', startShippedCaddy],
]

const key = { 'x-api-key': demoApiKey }
const json = { ...key, 'content-type': 'application/json' }
const watching = JSON.stringify({ query: 'subscription { eventPublished { sequence type } }' })
const pay = (front: Front, idempotencyKey: string) =>
  answerTo(front, '/api/payouts/banks', {
    method: 'POST',
    headers: { ...json, 'idempotency-key': idempotencyKey },
    body: JSON.stringify({ ...payoutBody, amount: '1' }),
  })

async function startBehind(start: (upstream: number) => Promise<Front>) {
  const place = await createDemoInstallation({ TRUST_PROXY: '127.0.0.1' })
  const { address } = await startService(place)
  const { port, relayed } = await startRelay(Number(new URL(address).port))
  return { place, front: await start(port), relayed }
}

/** Opens a stream and returns a function that reads on. */
async function watch(front: Front, accept: string) {
  const { answered, leave } = ask(front, '/graphql', { method: 'POST', headers: { ...json, accept }, body: watching })
  const answer = await answered
  let seen = ''
  answer.setEncoding('utf8').on('data', (chunk) => {
    seen += chunk
  })
  answer.on('error', () => {})
  return { answer, leave, seen: () => seen }
}

describe.skipIf(isLeftOut)('the service behind a real proxy', () => {
  test('is tested with installed versions of nginx and Caddy', () => {
    expect(missing).toEqual([])
  })

  describe.each(fronts)('%s', (_, start) => {
    test('sends events of an open stream immediately, and ends the stream when the caller disconnects', async () => {
      const { front, relayed } = await startBehind(start)
      const forms = [
        ['text/event-stream', ':\n\n', 'event: next'],
        ['multipart/mixed', '---', 'Content-Type: application/json'],
      ] as const
      for (const [accept, first, next] of forms) {
        const stream = await watch(front, accept)
        expect(relayed.streams.size).toBe(1)
        const { statusCode, headers } = stream.answer
        expect([statusCode, headers['content-type']]).toEqual([200, expect.stringContaining(accept)])
        await expect.poll(stream.seen).toContain(first)

        expect((await pay(front, `heard of in ${accept}`)).status).toBe(200)
        await expect.poll(stream.seen).toContain('"PAYOUT_')
        expect([stream.seen().includes(next), stream.answer.complete]).toEqual([true, false])

        stream.leave()
        // The proxy ends its request too, so the service holds no orphaned stream.
        await expect.poll(() => relayed.streams.size).toBe(0)
      }
    })

    test('receives a payout once if the response is lost, and pays once if the caller retries with the same key', async () => {
      const { front, relayed } = await startBehind(start)
      const total = async () => {
        const { body } = await answerTo(front, '/api/payouts?limit=1', { headers: key })
        return JSON.parse(body).pagination.total as number
      }
      const before = await total()

      relayed.isCutting = true
      expect((await pay(front, 'once')).status).toBe(502)
      expect([relayed.payouts, await total()]).toEqual([1, before + 1])

      const again = await pay(front, 'once')
      expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true'])
      expect([relayed.payouts, await total()]).toEqual([2, before + 1])
    })

    test('answers a long poll, and rejects an oversized body with an error of the service', async () => {
      const { front } = await startBehind(start)
      const polled = await answerTo(front, '/api/events?wait=1', { headers: key })
      expect(polled.status).toBe(200)
      const body = JSON.stringify({ query: '{ merchant { id } }', pad: 'x'.repeat(bodyLimitBytes) })
      const tooLarge = await answerTo(front, '/graphql', { method: 'POST', headers: json, body })
      expect([tooLarge.status, JSON.parse(tooLarge.body).errors[0].extensions.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    })
  })

  // The minimal nginx site forwards no client address.
  test.each(fronts.slice(1))(
    'with the configuration %s and TRUST_PROXY sees the real client address despite forged headers',
    async (_, start) => {
      const { place, front } = await startBehind(start)
      const [merchant] = (await cli(place, 'merchant', 'list', '--json')).json() as { id: string }[]
      const terms = ['--networks', '127.0.0.7', '--scopes', 'read']
      const created = await cli(place, 'key', 'create', merchant?.id ?? '', ...terms, '--json')
      const { apiKey } = created.json() as { apiKey: string }
      const statusFrom = async (from: string, forwarded?: string) => {
        const headers = { 'x-api-key': apiKey, ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) }
        return (await answerTo(front, '/api/customers', { headers, from })).status
      }

      expect(await statusFrom('127.0.0.7')).toBe(200)
      expect(await statusFrom('127.0.0.8')).toBe(403)
      for (const forged of ['127.0.0.7', '127.0.0.1, 127.0.0.7', '127.0.0.7, 127.0.0.1']) {
        expect(await statusFrom('127.0.0.8', forged)).toBe(403)
        expect(await statusFrom('127.0.0.7', forged)).toBe(200)
      }
    },
  )

  test('would send no byte of a stream if nginx ignored X-Accel-Buffering', async () => {
    const { front } = await startBehind((upstream) =>
      startPlainNginx(upstream, 'proxy_ignore_headers X-Accel-Buffering;'),
    )
    const { answered } = ask(front, '/graphql', {
      method: 'POST',
      headers: { ...json, accept: 'text/event-stream' },
      body: watching,
    })
    let isAnswered = false
    answered.then(
      () => {
        isAnswered = true
      },
      () => {},
    )
    // A later request on the same path has been answered long before.
    for (let payout = 0; payout < 3; payout++) expect((await pay(front, `silent ${payout}`)).status).toBe(200)
    expect(isAnswered).toBe(false)
  })
})
