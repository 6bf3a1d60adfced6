import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { demoApiKey } from '../../db/demo/demo.ts'
import type { Visit } from './browser.ts'
import { say, visit, wrong } from './browser.ts'

// A page of another origin calls the service in a real browser:
//   npm run browser:cross-origin
// By default the sandbox lets it, a service that names its origin does, and one that names another lets it read nothing.

const key = { 'x-api-key': demoApiKey }
const json = { ...key, 'content-type': 'application/json' }
const wallet = JSON.stringify({ currency: 'NGN', description: 'Of a page' })
const query = JSON.stringify({ query: '{ merchant { id } }' })

type Request = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string }
type Expected = { readonly status: number; readonly says: string; readonly headers?: readonly string[] }

/** What the page asks, and what it must read of the answer. */
const asked: readonly (readonly [path: string, request: Request, expected: Expected])[] = [
  ['/openapi.json', {}, { status: 200, says: '"openapi":"3.1.1"' }],
  [
    '/api/customers',
    { headers: key },
    { status: 200, says: '"pagination"', headers: ['ratelimit', 'ratelimit-policy'] },
  ],
  ['/api/customers', { headers: { authorization: `Bearer ${demoApiKey}` } }, { status: 200, says: '"pagination"' }],
  ['/api/customers', { headers: { 'x-api-key': 'x' } }, { status: 401, says: '"INVALID_TOKEN"' }],
  ['/api/nowhere', { headers: key }, { status: 404, says: '"ENDPOINT_NOT_FOUND"' }],
  ['/api/customers/%zz', { headers: key }, { status: 404, says: '"ENDPOINT_NOT_FOUND"' }],
  ['/api/customers', { method: 'DELETE', headers: key }, { status: 405, says: '"METHOD_NOT_ALLOWED"' }],
  [
    '/api/wallets',
    { method: 'POST', headers: { ...json, 'idempotency-key': 'a' }, body: wallet },
    { status: 201, says: '"NGN"' },
  ],
  [
    '/api/wallets',
    { method: 'POST', headers: { ...json, 'idempotency-key': 'a' }, body: wallet },
    { status: 201, says: '"NGN"', headers: ['idempotent-replayed'] },
  ],
  ['/graphql', { method: 'POST', headers: json, body: query }, { status: 200, says: '"merchant"' }],
  [
    '/graphql',
    { method: 'POST', headers: { ...json, accept: 'text/event-stream' }, body: query },
    { status: 200, says: 'event: next' },
  ],
]

await visit(async (visiting) => {
  const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
  await once(site.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  const page = await visiting.browser.newPage()
  await page.goto(origin)
  await readsAll(page, visiting.service.address, 'by default', [])
  await readsWhereNamed(visiting, page, origin)
  await readsNothing(visiting, page)
  site.close()
})

async function readsWhereNamed({ start }: Visit, page: Page, origin: string): Promise<void> {
  const service = await start({ CORS_ORIGINS: `https://app.example.com, ${origin}`, RATE_LIMIT: '1000' })
  await readsAll(page, service.address, 'where its origin is named', ['ratelimit', 'ratelimit-policy'])
  const before = { path: '/api/asset-codes', request: { headers: key } }
  for (let i = 0; i < 3; i++) await ask(page, `${service.address}${before.path}`, before.request)
  await service.end()
  const preflights = service.statusesOf('OPTIONS', before.path)
  const answers = service.statusesOf('GET', before.path)
  say(`three requests of one kind: preflights ${preflights}, answers ${answers}`)
  if (preflights.join() !== '204' || answers.join() !== '200,200,200') wrong('the browser keeps no preflight')
}

/** @param limited headers that are there only where there is a limit */
async function readsAll(page: Page, address: string, where: string, limited: readonly string[]): Promise<void> {
  for (const [path, request, { status, says, headers = [] }] of asked) {
    const told = await ask(page, `${address}${path}`, request)
    const name = `${where}: ${request.method ?? 'GET'} ${path}`
    if (told.fault !== null) wrong(`${name} can't be read: ${told.fault}`)
    else if (told.status !== status || !told.text.includes(says)) wrong(`${name} reads ${told.status} ${told.text}`)
    const wanted = headers.filter((header) => !header.startsWith('ratelimit') || limited.includes(header))
    const missing = ['x-request-id', ...wanted].filter((header) => !told.headers.includes(header))
    if (missing.length > 0) wrong(`${name} shows no ${missing.join(', ')}`)
  }
  say(`${where}: the page reads ${asked.length} answers of both doors`)
}

async function readsNothing({ start }: Visit, page: Page): Promise<void> {
  const service = await start({ CORS_ORIGINS: 'https://app.example.com,http://*.localhost' })
  for (const [path, request] of asked) {
    const { fault, text } = await ask(page, `${service.address}${path}`, request)
    if (fault === null) wrong(`a page that is not named reads ${text}`)
  }
  await service.end()
  const written = service.statusesOf('POST', '/api/wallets')
  if (written.length > 0) wrong(`a page that is not named sends what its browser should not: ${written}`)
  say(`where another is named: the page reads none of ${asked.length}, and its browser sends no POST`)
}

type Told = {
  readonly status: number
  readonly headers: readonly string[]
  readonly text: string
  readonly fault: string | null
}

/** What the page reads of an answer; `fault` is what its browser says where it may read nothing. */
function ask(page: Page, url: string, request: Request): Promise<Told> {
  return page.evaluate(
    async ([url, request]) => {
      try {
        const answer = await fetch(url, request)
        return { status: answer.status, headers: [...answer.headers.keys()], text: await answer.text(), fault: null }
      } catch (error) {
        return { status: 0, headers: [], text: '', fault: String(error) }
      }
    },
    [url, request] as const,
  )
}
