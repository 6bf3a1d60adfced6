import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { createClient } from '../../clients/typescript/src/index.ts'
import type { WallTime } from '../../src/core/ids-and-clock.ts'
import { demoApiKey } from '../../src/demo/demo.ts'
import { buildRequest } from '../../src/modules/webhooks/transport/build-request.ts'
import {
  generateKeyPair,
  generateSharedSecret,
  parseSigner,
} from '../../src/modules/webhooks/transport/standard-webhooks.ts'
import { adaAt } from '../clients/support/ada.ts'
import { startProxy } from '../clients/support/proxy.ts'
import type { Report, Task } from './client/scenario.ts'
import { test as base, expect } from './fixtures.ts'

/** The site of a page, whose scripts are the client and its task, and the task. */
const test = base.extend<{ site: { readonly task: Task } }>({
  site: async ({ service }, use) => {
    const proxy = await startProxy(service.address)
    const server = createClient({ url: service.address, apiKey: demoApiKey })
    const customer_id = await adaAt(service.address)
    const bundle = await rolldown({ input: join(import.meta.dirname, 'client/scenario.ts') })
    const { output } = await bundle.generate()
    let tokens = 0
    const responses: Readonly<Record<string, () => Promise<readonly [type: string, body: string]>>> = {
      '/': async () => ['text/html', '<!doctype html><link rel="icon" href="data:," />'],
      '/scenario.js': async () => ['text/javascript', output[0].code],
      '/worker.js': async () => [
        'text/javascript',
        "import { run } from '/scenario.js'\nonmessage = async ({ data }) => postMessage(await run(data))",
      ],
      '/token': async () => {
        const { data } = await server.post('/api/client-tokens', { body: { customer_id, scopes: ['read', 'payouts'] } })
        return ['application/json', JSON.stringify(tokens++ === 0 ? { ...data, token: 'e30.e30.e30' } : data)]
      },
      '/lose': async () => {
        // Chromium itself repeats a request whose connection dies before the response begins.
        proxy.faults.push('lose', 'truncate')
        return ['text/plain', '']
      },
      '/cut': async () => {
        proxy.cut()
        return ['text/plain', '']
      },
    }
    const site = createServer(async (request, response) => {
      const [type, body] = (await responses[request.url ?? '']?.()) ?? ['text/plain', '']
      response.setHeader('content-type', type).end(body)
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    await use({ task: { url: proxy.address, site: address, ...signedWebhook() } })
    site.close()
    site.closeAllConnections()
    proxy.end()
  },
})

// The browser complains about the connections that the test cuts, and about the rejected token.
test.use({ expectedComplaints: /status of 401|net::ERR_(EMPTY|INCOMPLETE|CONNECTION|CONTENT_LENGTH)/ })

/** A webhook as the service signs it during a rotation, with the other secret and the public key. */
function signedWebhook() {
  const [previous, current] = [generateSharedSecret(), generateSharedSecret()]
  const { privateKey, publicKey } = generateKeyPair()
  const event = {
    id: 'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2',
    type: 'payout.completed',
    timestamp: '2026-03-02T09:30:00.000Z',
    sequence: 1234,
    object: { type: 'payout', id: '01980c60-1f2e-7d3c-8b4a-5a6978879605', version: 2 },
    mode: 'sandbox',
    data: '{}',
  } as const
  const signer = parseSigner([current, previous, privateKey])
  const webhook = buildRequest(event, { format: 'standard', signer, now: Date.now() as WallTime })
  return { webhook, secrets: [publicKey, generateSharedSecret(), previous] }
}

function expectAll(report: Report): void {
  expect.soft(report.made).toBe(2)
  expect.soft(report.first.attempts).toBeGreaterThan(1)
  expect.soft(report.first.isReplayed).toBe(true)
  const [first, second] = report.paid
  expect.soft(report.arrived).toEqual([first, first, second, second])
  expect.soft([report.verified, report.forged, report.isEnded]).toEqual([1234, 'wrong-signature', true])
}

test('the client pays once, follows events and verifies a webhook in a page', async ({ page, site }) => {
  await page.goto(site.task.site)
  expectAll(
    await page.evaluate(
      async (task) => (await import(`${task.site}/scenario.js`)).run(task) as Promise<Report>,
      site.task,
    ),
  )
})

test('the client pays once, follows events and verifies a webhook in a web worker', async ({ page, site }) => {
  await page.goto(site.task.site)
  expectAll(
    await page.evaluate(
      (task) =>
        new Promise<Report>((resolve, reject) => {
          const worker = new Worker('/worker.js', { type: 'module' })
          worker.onmessage = ({ data }) => resolve(data)
          worker.onerror = ({ message }) => reject(new Error(message))
          worker.postMessage(task)
        }),
      site.task,
    ),
  )
})
