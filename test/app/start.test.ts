import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { demoPayoutCount } from '../../src/demo/demo-history.ts'
import { payoutBody } from '../support/app.ts'
import {
  cli,
  cliProcess,
  createDemoInstallation,
  createEmptyInstallation,
  createLiveInstallation,
  jsonOf,
  startService,
} from '../support/process.ts'

const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }

describe('npm start', () => {
  test('creates a database with the demo merchant, and prints a curl command that works when pasted', async () => {
    const { greeting } = await startService(await createEmptyInstallation())

    const line = greeting.split('\n').find((text) => text.trim().startsWith('curl')) ?? ''
    const response = JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' }))

    const types = response.data.map(
      (each: { customer_type: string; status: string }) => `${each.customer_type} ${each.status}`,
    )
    expect(new Set(types)).toEqual(new Set(['individual active', 'business active', 'individual closed']))
  })

  test('prints the URL of the GraphQL API, which serves GraphiQL to browsers', async () => {
    const { greeting, address } = await startService(await createDemoInstallation())
    expect(greeting).toContain(`  GraphQL  ${address}/graphql (GraphiQL, in a browser)\n`)
    const page = await fetch(`${address}/graphql`, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('query _1_')
  })

  test('logs every scheduled rate and fee that is not cancelled', async () => {
    const place = await createLiveInstallation()
    await cli(place, 'rate', 'set', 'USDC', 'NGN', '1000', '--effective-at', '2126-01-01T00:00:00Z')
    await cli(place, 'fee', 'set', 'USDT', 'ZAR', '--flat', '2', '--effective-at', '2126-01-01T00:00:00Z')
    await cli(place, 'rate', 'set', 'USDC', 'ZAR', '18', '--effective-at', '2126-01-02T00:00:00Z')
    await cli(place, 'rate', 'cancel', 'USDC', 'ZAR', '2126-01-02T00:00:00Z')
    const { greeting } = await startService(place)
    expect(greeting).toContain('Warning: these rates and fees take effect later')
    expect(greeting).toContain('  rate USDC NGN 1000 from 2126-01-01T00:00:00.000Z\n')
    expect(greeting).toContain(
      '  fee USDT ZAR 2.00000000 and 0 % of the amount, deducted from the balance, from 2126-01-01T00:00:00.000Z\n',
    )
    expect(greeting).not.toContain('USDC ZAR')
  })
  test.each([[{}], [{ WORKERS: '2' }]])(
    'with the variables %o reports which variable to change if the port is in use',
    async (environment) => {
      const taken = createServer().listen(0, '127.0.0.1')
      await once(taken, 'listening')
      const { port } = taken.address() as AddressInfo
      const starting = startService(await createEmptyInstallation({ ...environment, PORT: String(port) }))
      await expect(starting).rejects.toThrow(
        `Cannot listen on 127.0.0.1, port ${port} (EADDRINUSE): another program uses it. Set PORT`,
      )
      taken.close()
    },
  )

  test('responds successfully to the example requests in the README', async () => {
    const { address } = await startService(await createDemoInstallation())
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
    const lines = [...readme.matchAll(/^```sh\n(curl [^`]*)```/gm)].map(([, line = '']) => line)
    const responses = lines.map((line) =>
      JSON.parse(execFileSync('sh', ['-c', line.replaceAll('http://127.0.0.1:4000', address)], { encoding: 'utf8' })),
    )
    expect(responses).toMatchObject([
      { status: 'success', pagination: { total: 9 } },
      { status: 'success', data: { amount: '25.50000000', status: 'PROCESSING' } },
      { status: 'success', data: { secret: expect.stringMatching(/^whsec_/) } },
      { data: { customers: { totalCount: 9, nodes: [{ wallets: { nodes: [{ currency: 'USDC' }] } }, {}] } } },
    ])
  })

  test('creates a demo with both kinds of payout methods, funded wallets, and payouts in every status', async () => {
    const place = await createEmptyInstallation()
    const { address } = await startService(place)
    const get = async (path: string) => jsonOf(await fetch(`${address}${path}`, { headers }))

    const methods = await get('/api/payout/methods')
    expect(new Set(methods.data.map((each: { type: string }) => each.type))).toEqual(new Set(['BANK', 'WALLET']))

    const customers = await get('/api/customers')
    const wallets = await Promise.all(
      customers.data.map(async ({ id }: { id: string }) => (await get(`/api/wallets/${id}/customer`)).data),
    )
    const held = wallets.flat() as { asset_type: string; balance: string }[]
    expect(held.some(({ asset_type, balance }) => asset_type === 'FIAT' && Number(balance) > 0)).toBe(true)
    expect(held.some(({ asset_type, balance }) => asset_type === 'STABLECOIN' && Number(balance) > 0)).toBe(true)

    expect((await cli(place, 'audit', '--json')).json()).toMatchObject({ balanced: true, payouts: demoPayoutCount })
  })

  test('keeps the demo unchanged after a restart', async () => {
    const place = await createDemoInstallation()
    const before = (await cli(place, 'audit', '--json')).json()
    const { child, ended } = await startService(place)
    child.kill('SIGTERM')
    await ended
    expect((await cli(place, 'audit', '--json')).json()).toEqual(before)
  })

  // The URL is stored in the database, so the port does not matter.
  test.each([[{}], [{ WORKERS: '2', HOST: '0.0.0.0' }]])(
    'with the variables %o delivers the demo’s webhooks to the service’s own URL, even after a restart on another port',
    async (environment) => {
      const place = await createEmptyInstallation(environment)
      for (const _ of ['first', 'restarted']) {
        const { child, ended, address } = await startService(place)
        const localAddress = address.replace('0.0.0.0', '127.0.0.1')
        const { data: endpoints } = await jsonOf(await fetch(`${localAddress}/api/webhooks`, { headers }))
        expect(endpoints).toMatchObject([{ url: `http://127.0.0.1:${new URL(localAddress).port}/sandbox/webhooks` }])
        const log = `${localAddress}/api/webhooks/${endpoints[0].id}/deliveries?status=delivered`
        const latestDelivery = async () => (await jsonOf(await fetch(log, { headers }))).data[0]
        const before = await latestDelivery()
        const body = JSON.stringify(payoutBody)
        await fetch(`${localAddress}/api/payouts/banks`, { method: 'POST', headers, body })
        let delivery = before
        while (delivery.sequence === before.sequence) delivery = await latestDelivery()
        const { event_id: id, event_type, attempts } = delivery
        expect(event_type).toBe('payout.initiated')
        // The dispatcher may have read the endpoint before its URL changed.
        expect(attempts.at(-1)).toMatchObject({ status: 200, answer: `received ${id}\n` })
        child.kill('SIGTERM')
        await ended
      }
    },
  )

  test('adds no demo to a database that already has merchants', async () => {
    const place = await createEmptyInstallation()
    await cli(place, 'merchant', 'create', 'Someone')
    const { address } = await startService(place)
    expect((await fetch(`${address}/api/customers`, { headers })).status).toBe(401)
  })

  test('in live mode creates no demo and serves no GraphiQL', async () => {
    const place = await createLiveInstallation()
    const { address, greeting } = await startService(place)
    expect(greeting).toContain(`  GraphQL  ${address}/graphql\n`)
    expect((await fetch(`${address}/graphql`, { headers: { accept: 'text/html' } })).status).toBe(401)
    expect(greeting).not.toContain('pgw_')
    expect((await fetch(`${address}/api/customers`, { headers })).status).toBe(401)
    expect((await fetch(`${address}/sandbox/webhooks`, { method: 'POST' })).status).toBe(404)
    expect((await cli(place, 'merchant', 'list', '--json')).json()).toEqual([])
  })

  test('creates one demo if several processes start simultaneously on an empty database', async () => {
    const place = await createEmptyInstallation()
    const started = await Promise.all([startService(place), startService(place), cliProcess(place, 'demo', '--json')])
    expect(started[2].json()).toEqual({ apiKey: demoApiKey })
    expect((await cli(place, 'merchant', 'list', '--json')).json()).toHaveLength(1)
    expect((await cli(place, 'audit', '--json')).json()).toMatchObject({ balanced: true, payouts: demoPayoutCount })
  })

  test('rejects a database whose mode differs from MODE, and the operator commands reject that database too', async () => {
    const place = await createLiveInstallation()
    await cli(place, 'merchant', 'create', 'Acme')
    const forgotten = { ...place, env: { ...place.env, MODE: 'sandbox' } }
    await expect(startService(forgotten)).rejects.toThrow('This database is of MODE=live')
    for (const args of [['demo'], ['fill'], ['audit'], ['merchant', 'list']]) {
      const { code, stderr } = await cli(forgotten, ...args)
      expect([code, stderr]).toEqual([1, expect.stringContaining('This database is of MODE=live')])
    }
    expect((await cli(place, 'fill')).stderr).toContain('MODE=sandbox only')
    expect((await cli(place, 'merchant', 'list', '--json')).json()).toHaveLength(1)
  })

  test('reports every invalid variable and exits', async () => {
    const place = await createEmptyInstallation({ PORT: 'x', MODE: 'prod' })
    await expect(startService({ ...place, env: { ...place.env, ...{ LOG_LEVEL: 'loud' } } })).rejects.toThrow(
      /MODE[\s\S]*LOG_LEVEL/,
    )
  })

  test('prints and logs a warning that the demo key is public if HOST allows requests from other machines', async () => {
    const { greeting, child, ended } = await startService(await createDemoInstallation({ HOST: '0.0.0.0' }))
    child.kill('SIGTERM')
    const { stdout } = await ended
    const warning = 'HOST=0.0.0.0 accepts requests from other machines, and the demo key is public.'
    expect([greeting.includes(`WARNING: ${warning}`), stdout.includes(warning)]).toEqual([true, true])
  })

  test('writes only JSON lines to standard output, without API keys and account numbers', async () => {
    const { child, ended, address, greeting } = await startService(await createDemoInstallation())
    await fetch(`${address}/api/payouts/banks`, { method: 'POST', headers, body: JSON.stringify(payoutBody) })
    await fetch(`${address}/api/wallets/${payoutBody.account_number}?account_number=${payoutBody.account_number}`, {
      headers,
    })
    const silent = connect(Number(new URL(address).port), '127.0.0.1')
    await once(silent, 'connect')
    silent.on('error', () => {})
    child.kill('SIGTERM')
    const { stdout, code } = await ended
    // It does not wait for an idle connection.
    expect(code).toBe(0)
    silent.destroy()
    // The service listens on loopback, so there is no warning.
    expect([greeting.includes('WARNING'), stdout.includes('accepts requests from other machines')]).toEqual([
      false,
      false,
    ])
    const lines = stdout.trim().split('\n')
    expect(
      lines.map((line) => JSON.parse(line)).filter(({ route }) => route && route !== '/sandbox/webhooks'),
    ).toHaveLength(2)
    expect(stdout).not.toContain(demoApiKey)
    expect(stdout).not.toContain(payoutBody.account_number)
  })

  test('serves requests and shuts down even if the log cannot be written', async () => {
    const place = await createDemoInstallation()
    const { address, child, ended } = await startService(place, openSync('/dev/full', 'w'))
    for (let i = 0; i < 50; i++) {
      expect((await fetch(`${address}/api/customers`, { headers })).status).toBe(200)
    }
    child.kill('SIGTERM')
    await ended
    expect((await cli(place, 'audit', '--json')).json()).toMatchObject({ balanced: true })
  })

  test('on SIGTERM sends the responses to accepted requests and exits', async () => {
    const place = await createDemoInstallation()
    const { child, ended, address } = await startService(place)
    const agent = new Agent({ keepAlive: true, maxSockets: 32 })
    const statuses: number[] = []
    let refused = 0
    const load = Array.from({ length: 32 }, async (_, client) => {
      for (let i = 0; i < 500; i++) {
        const status = await pay(address, agent, `key ${client} ${i}`)
        if (status === null) {
          refused++
          return
        }
        statuses.push(status)
      }
    })
    await expect.poll(() => statuses.length, { timeout: 60_000 }).toBeGreaterThan(100)
    child.kill('SIGTERM')
    const { code } = await ended
    await Promise.all(load)
    agent.destroy()

    expect(code).toBe(0)
    expect(refused).toBeGreaterThan(0)
    expect(new Set(statuses)).toEqual(new Set([200]))
    // Every acknowledged payout is stored, and the books agree.
    const { payouts } = (await cli(place, 'audit', '--json')).json() as { payouts: number }
    expect(payouts).toBeGreaterThanOrEqual(6 + statuses.length)
    expect((await cli(place, 'audit', '--json')).code).toBe(0)
  })
})

/** Returns the status of one payout, or `null` if the connection failed before a response. */
function pay(address: string, agent: Agent, key: string): Promise<number | null> {
  return new Promise((resolve) => {
    const sent = request(`${address}/api/payouts/banks`, {
      agent,
      method: 'POST',
      headers: { ...headers, 'idempotency-key': key },
    })
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', () => resolve(null))
    sent.end(JSON.stringify({ ...payoutBody, amount: '0.01' }))
  })
}
