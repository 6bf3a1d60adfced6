import { describe, expect, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { listOperatorActions } from '../../src/modules/operators/list-operator-actions.ts'
import { createOperator } from '../../src/modules/operators/manage-operators.ts'
import { bodyLimitBytes } from '../../src/server/http/http-errors.ts'
import { openOperatorConsole } from '../console/support/open-operator-console.ts'
import { startApp } from '../support/app.ts'
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

type StartFront = (upstream: number, consoleUpstream?: number) => Promise<Front>

const shippedFronts: readonly (readonly [name: string, start: StartFront])[] = [
  ['nginx by deploy/nginx.conf', startShippedNginx],
  ['Caddy by deploy/Caddyfile', startShippedCaddy],
]
const fronts: readonly (readonly [name: string, start: (upstream: number) => Promise<Front>])[] = [
  ['nginx as Debian ships it', startPlainNginx],
  ...shippedFronts,
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
  const response = await answered
  let seen = ''
  response.setEncoding('utf8').on('data', (chunk) => {
    seen += chunk
  })
  response.on('error', () => {})
  return { response, leave, seen: () => seen }
}

describe.skipIf(isLeftOut)('the service behind a real proxy', () => {
  test('is tested with nginx and Caddy, which are both installed', () => {
    expect(missing).toEqual([])
  })

  describe.each(fronts)('%s', (_, start) => {
    test('an open stream delivers events and multipart parts immediately, and ends when its caller disconnects', async () => {
      const { front, relayed } = await startBehind(start)
      const forms = [
        ['text/event-stream', ':\n\n', 'event: next'],
        ['multipart/mixed', '---', 'Content-Type: application/json'],
      ] as const
      for (const [accept, first, next] of forms) {
        const stream = await watch(front, accept)
        expect(relayed.streams.size).toBe(1)
        const { statusCode, headers } = stream.response
        expect([statusCode, headers['content-type']]).toEqual([200, expect.stringContaining(accept)])
        await expect.poll(stream.seen).toContain(first)

        expect((await pay(front, `heard of in ${accept}`)).status).toBe(200)
        await expect.poll(stream.seen).toContain('"PAYOUT_')
        expect([stream.seen().includes(next), stream.response.complete]).toEqual([true, false])

        stream.leave()
        // The proxy ends its request too, so the service holds no orphaned stream.
        await expect.poll(() => relayed.streams.size).toBe(0)
      }
    })

    test('a payout whose response is lost is forwarded once, and created once even if the caller retries with the same key', async () => {
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

    test('a long poll gets a response, and an oversized body gets the service’s own error', async () => {
      const { front } = await startBehind(start)
      const polled = await answerTo(front, '/api/events?wait=1', { headers: key })
      expect(polled.status).toBe(200)
      const body = JSON.stringify({ query: '{ merchant { id } }', pad: 'x'.repeat(bodyLimitBytes) })
      const tooLarge = await answerTo(front, '/graphql', { method: 'POST', headers: json, body })
      expect([tooLarge.status, JSON.parse(tooLarge.body).errors[0].extensions.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    })

    test('redirects and the Location of a creation stay relative, and pages arrive compressed', async () => {
      const { front } = await startBehind(start)
      const headers = { accept: 'text/html' }
      for (const [path, location] of [
        ['/docs/', '/docs'],
        ['/graphql/?x=1', '/graphql?x=1'],
      ] as const) {
        const redirect = await answerTo(front, path, { headers })
        expect([redirect.status, redirect.headers.location]).toEqual([308, location])
      }
      const body = JSON.stringify({ currency: 'NGN', description: 'Naira' })
      const created = await answerTo(front, '/api/wallets', { method: 'POST', headers: json, body })
      const location = String(created.headers.location)
      expect([created.status, location]).toEqual([201, `/api/wallets/${JSON.parse(created.body).data.id}`])
      expect((await answerTo(front, location, { headers: key })).status).toBe(200)

      for (const path of ['/openapi.json', '/docs', '/docs/errors', '/graphql']) {
        const page = await answerTo(front, path, { headers: { ...headers, 'accept-encoding': 'br' } })
        const again = { ...headers, 'accept-encoding': 'br', 'if-none-match': String(page.headers.etag) }
        expect([path, page.status, page.headers['content-encoding']]).toEqual([path, 200, 'br'])
        expect((await answerTo(front, path, { headers: again })).status).toBe(304)
      }
    })
  })

  test.each(shippedFronts)(
    '%s: an operator signs in to the console and performs an action, and wrong passwords are limited by client address',
    async (_, start) => {
      const [app, url] = [await startApp('sqlite'), 'https://console.localhost']
      const console = await openOperatorConsole(app, { url })
      const front = await start(9, console.port)
      const { token } = await createOperator(app.service, { name: 'ada', role: 'act' })
      const send = (
        path: string,
        fields: Record<string, string> | null,
        headers: Record<string, string> = {},
        from = '127.0.0.7',
      ) =>
        answerTo(front, path, {
          method: fields === null ? 'GET' : 'POST',
          headers: {
            ...{ host: 'console.localhost', 'sec-fetch-site': 'same-origin' },
            ...(fields && { origin: url, 'content-type': 'application/x-www-form-urlencoded' }),
            ...headers,
          },
          ...(fields && { body: new URLSearchParams(fields).toString() }),
          from,
        })

      const entered = await send('/link', { token, password: 'a long enough password' })
      const [set = ''] = entered.headers['set-cookie'] ?? []
      expect([entered.status, set]).toEqual([
        303,
        expect.stringMatching(/^__Host-.*; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
      ])
      const cookie = set.split(';')[0] ?? ''
      const page = await send('/rails', null, { cookie })
      const [, form = ''] = /name="_action" value="rail pause">.*?name="_form" value="([^"]*)"/.exec(page.body) ?? []
      const fields = { _action: 'rail pause', _target: 'sandbox', _form: form, reason: 'maintenance' }
      expect((await send('/rails', fields, { cookie, origin: 'https://localhost' })).status).toBe(403)
      expect((await send('/rails', fields, { cookie })).status).toBe(303)

      const guess = (from: string, name: string) =>
        send('/sign-in', { name, password: 'wrong' }, { 'x-forwarded-for': '198.51.100.1' }, from)
      for (let count = 0; count < 20; count++) expect((await guess('127.0.0.7', `name-${count}`)).status).toBe(403)
      expect((await guess('127.0.0.7', 'one-more')).status).toBe(429)
      expect((await guess('127.0.0.8', 'one-more')).status).toBe(403)
      expect((await listOperatorActions(app.service, {})).items).toMatchObject([
        { action: 'rail pause', operator: 'ada' },
        { action: 'console sign-in', operator: 'ada', details: { address: '127.0.0.7' } },
      ])
    },
  )

  // The minimal nginx site forwards no client address.
  test.each(shippedFronts)('%s: TRUST_PROXY determines the client address despite forged headers', async (_, start) => {
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
  })

  test('without X-Accel-Buffering nginx forwards no byte of an open stream', async () => {
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
