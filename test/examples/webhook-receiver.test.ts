import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { payoutBody } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import type { TestInstallation } from '../support/process.ts'
import { createDemoInstallation, jsonOf, startService } from '../support/process.ts'

const path = join(import.meta.dirname, '../../examples/webhook-receiver/receiver.ts')

test('the webhook receiver has fewer than 50 lines and imports only Node.js modules and the client', () => {
  const source = readFileSync(path, 'utf8')
  expect(source.trimEnd().split('\n').length).toBeLessThan(50)
  const imported = [...source.matchAll(/ from '([^']+)'/g)].map(([, name]) => String(name))
  expect(imported.filter((name) => !name.startsWith('node:'))).toEqual(['../../clients/typescript/src/index.ts'])
})

test('the webhook receiver verifies events, handles each event once and in order, and reads missed events from the feed', async () => {
  const place = await createDemoInstallation()
  const { address } = await startService(place)
  const { call, pay } = callsOf(address)
  const port = await freePort()
  const { data: endpoint } = await call('POST', '/api/webhooks', { url: `http://127.0.0.1:${port}` })
  const start = () => startReceiver(place, { API_URL: address, WEBHOOK_SECRET: endpoint.secret, PORT: String(port) })

  // Events from before its start.
  const readPage = async (after: number) => (await call('GET', `/api/events?limit=100&after=${after}`)).data
  const history = await readPage(0)
  for (let page = history; page.length > 0; history.push(...page)) page = await readPage(history.length)
  const first = await start()
  expect(await first.handled(history.length)).toEqual(history.map(lineOf))

  // Events that it is sent.
  const paid = await pay()
  const [line] = await first.handled(1)
  const { data: events } = await call('GET', `/api/events?after=${history.length}`)
  expect(events).toMatchObject([{ type: 'payout.initiated', object: { id: paid.id, version: 1 } }])
  expect(line).toBe(lineOf(events[0]))
  // The receiver responds before it stores the outcome.
  let log = []
  while (log.length === 0) log = (await call('GET', `/api/webhooks/${endpoint.id}/deliveries?status=delivered`)).data
  expect(log).toMatchObject([{ event_id: events[0].id, attempts: [{ status: 204 }] }])

  // The receiver handles neither a forged nor a repeated event.
  const post = (sent: Partial<Sent>) => postTo(port, { event: events[0], secret: endpoint.secret, ...sent })
  expect(await post({})).toBe(204)
  expect(await post({ others: ['v1,b3RoZXI=', 'v1a,b3RoZXI='] })).toBe(204)
  expect(await post({ sentBody: (body) => body.replace('40.0', '90.0') })).toBe(401)
  expect(await post({ secret: `whsec_${Buffer.alloc(32).toString('base64')}` })).toBe(401)
  expect(await post({ ageSeconds: 299 })).toBe(204)
  expect(await post({ ageSeconds: 310 })).toBe(401)
  expect(await post({ ageSeconds: -310 })).toBe(401)
  expect((await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' })).status).toBe(401)

  // Events from its downtime.
  await first.kill()
  const missed = [await pay(), await pay()]
  const second = await start()
  const afterwards = [await second.handled(2)]

  // The next sent event reveals the missing ones.
  await call('POST', `/api/webhooks/${endpoint.id}/disable`)
  missed.push(await pay())
  await call('POST', `/api/webhooks/${endpoint.id}/enable`, { from: 'now' })
  missed.push(await pay())
  afterwards.push(await second.handled(2))
  const { data: all } = await call('GET', `/api/events?after=${history.length + 1}`)
  expect(all.map(({ object }: ReceivedEvent) => object.id)).toEqual(missed.map(({ id }) => id))
  expect(afterwards.flat()).toEqual(all.map(lineOf))
})

type ReceivedEvent = { id: string; type: string; sequence: number; object: { id: string; version: number } }

function lineOf({ sequence, type, object }: ReceivedEvent): string {
  return `${sequence} ${type} ${object.id} version ${object.version}`
}

function callsOf(address: string) {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }
    const response = await fetch(address + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const json = await jsonOf(response)
    expect(json).toMatchObject({ status: 'success' })
    return json
  }
  const pay = async (): Promise<{ id: string }> => (await call('POST', '/api/payouts/banks', payoutBody)).data
  return { call, pay }
}

/** Starts the receiver by its README; its state is stored next to the database. */
async function startReceiver({ folder, env: { PATH } }: TestInstallation, environment: Record<string, string>) {
  const child = spawn(process.execPath, [path], {
    cwd: folder,
    env: { PATH, API_KEY: demoApiKey, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    /** Returns the next printed lines. */
    handled: async (count: number) => {
      const sources: string[] = []
      while (sources.length < count) sources.push((await lines.next()).value as string)
      return sources
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

type Sent = {
  event: ReceivedEvent
  secret: string
  ageSeconds: number
  /** Signatures that precede ours. */
  others: string[]
  /** The sent changes of a signed message. */
  sentBody: (body: string) => string
}

async function postTo(
  port: number,
  {
    event,
    secret,
    ageSeconds = 0,
    others = [],
    sentBody = (body) => body,
  }: Pick<Sent, 'event' | 'secret'> & Partial<Sent>,
): Promise<number> {
  const body = JSON.stringify(event)
  const time = Math.floor(Date.now() / 1000) - ageSeconds
  const hash = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
  const own = `v1,${hash.update(`${event.id}.${time}.${body}`).digest('base64')}`
  const headers = {
    'webhook-id': event.id,
    'webhook-timestamp': String(time),
    'webhook-signature': [...others, own].join(' '),
  }
  return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: sentBody(body) })).status
}
