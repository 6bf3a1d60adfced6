import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { demoApiKey } from '../../src/demo/demo.ts'
import { test as base, expect } from './fixtures.ts'

/** An empty page of another origin. */
const test = base.extend<{ foreignPage: Page }>({
  foreignPage: async ({ page }, use) => {
    const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
    await once(site.listen(0, '127.0.0.1'), 'listening')
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`)
    await use(page)
    await page.close()
    site.close()
  },
})

// The browser complains about each error status, and about each response that it hides from the page.
test.use({ expectedComplaints: /status of 4\d\d|blocked by CORS policy|net::ERR_FAILED/ })

const key = { 'x-api-key': demoApiKey }
const json = { ...key, 'content-type': 'application/json' }
const wallet = JSON.stringify({ currency: 'NGN', description: 'Of a page' })
const query = JSON.stringify({ query: '{ merchant { id } }' })

type Request = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string }
type Expected = { readonly status: number; readonly text: string; readonly headers?: readonly string[] }

/** What the page requests, and what it must be able to read of the response. */
const exchanges: readonly (readonly [path: string, request: Request, expected: Expected])[] = [
  ['/openapi.json', {}, { status: 200, text: '"openapi":"3.1.1"' }],
  [
    '/api/customers',
    { headers: key },
    { status: 200, text: '"pagination"', headers: ['ratelimit', 'ratelimit-policy'] },
  ],
  ['/api/customers', { headers: { authorization: `Bearer ${demoApiKey}` } }, { status: 200, text: '"pagination"' }],
  ['/api/customers', { headers: { 'x-api-key': 'x' } }, { status: 401, text: '"INVALID_TOKEN"' }],
  ['/api/nowhere', { headers: key }, { status: 404, text: '"ENDPOINT_NOT_FOUND"' }],
  ['/api/customers/%zz', { headers: key }, { status: 404, text: '"ENDPOINT_NOT_FOUND"' }],
  ['/api/customers', { method: 'DELETE', headers: key }, { status: 405, text: '"METHOD_NOT_ALLOWED"' }],
  [
    '/api/wallets',
    { method: 'POST', headers: { ...json, 'idempotency-key': 'a' }, body: wallet },
    { status: 201, text: '"NGN"' },
  ],
  [
    '/api/wallets',
    { method: 'POST', headers: { ...json, 'idempotency-key': 'a' }, body: wallet },
    { status: 201, text: '"NGN"', headers: ['idempotent-replayed'] },
  ],
  ['/graphql', { method: 'POST', headers: json, body: query }, { status: 200, text: '"merchant"' }],
  [
    '/graphql',
    { method: 'POST', headers: { ...json, accept: 'text/event-stream' }, body: query },
    { status: 200, text: 'event: next' },
  ],
]

test('a page of another origin can read both APIs of a sandbox by default', async ({ foreignPage, service }) => {
  await expectReadable(foreignPage, service.address, [])
})

test('a page can read both APIs of a service that allows the page’s origin, and the browser caches the preflight', async ({
  foreignPage,
  startService,
}) => {
  const { origin } = new URL(foreignPage.url())
  const service = await startService({ CORS_ORIGINS: `https://app.example.com, ${origin}`, RATE_LIMIT: '1000' })
  await expectReadable(foreignPage, service.address, ['ratelimit', 'ratelimit-policy'])
  for (let i = 0; i < 3; i++) await read(foreignPage, `${service.address}/api/asset-codes`, { headers: key })
  await service.stop()
  expect(service.statusesOf('OPTIONS', '/api/asset-codes')).toEqual([204])
  expect(service.statusesOf('GET', '/api/asset-codes')).toEqual([200, 200, 200])
})

test('a page cannot read responses of a service that allows only other origins, and the browser sends no POST', async ({
  foreignPage,
  startService,
}) => {
  const service = await startService({ CORS_ORIGINS: 'https://app.example.com,http://*.localhost' })
  for (const [path, request] of exchanges) {
    const { failure } = await read(foreignPage, `${service.address}${path}`, request)
    expect.soft(failure, `${request.method ?? 'GET'} ${path}`).not.toBeNull()
  }
  await service.stop()
  expect(service.statusesOf('POST', '/api/wallets')).toEqual([])
})

/** @param limitHeaders the headers that only a service with a rate limit sends */
async function expectReadable(page: Page, address: string, limitHeaders: readonly string[]): Promise<void> {
  for (const [path, request, expected] of exchanges) {
    const response = await read(page, `${address}${path}`, request)
    const { status, text, headers = [] } = expected
    const expectedHeaders = headers.filter((header) => !header.startsWith('ratelimit') || limitHeaders.includes(header))
    expect.soft(response, `${request.method ?? 'GET'} ${path}`).toEqual({
      failure: null,
      status,
      text: expect.stringContaining(text),
      headers: expect.arrayContaining(['x-request-id', ...expectedHeaders]),
    })
  }
}

/** What the page can read of the response; `failure` is the browser's error if that is nothing. */
function read(page: Page, url: string, request: Request) {
  return page.evaluate(
    async ([url, request]) => {
      try {
        const response = await fetch(url, request)
        const headers = [...response.headers.keys()]
        return { failure: null, status: response.status, headers, text: await response.text() }
      } catch (error) {
        return { failure: String(error) }
      }
    },
    [url, request] as const,
  )
}
