import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { demoApiKey } from '../../db/demo/demo.ts'
import type { Config } from '../../src/app/config.ts'
import { createLogger } from '../../src/app/logger.ts'
import { greeting } from '../../src/app/start.ts'
import type { Mode } from '../../src/context.ts'
import { createService } from '../../src/context.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { eventTypes } from '../../src/events/event.ts'
import { createServer } from '../../src/server/host.ts'
import { curl } from '../../src/server/pages/docs-endpoint.ts'
import { docsPage } from '../../src/server/pages/docs-page.ts'
import { openapiDocument } from '../../src/server/pages/openapi.ts'
import { groups } from '../../src/server/rest-routes.ts'
import { everyEngine, newDatabase } from '../support/app.ts'

/** A service with an empty database; whoever asks has no key. */
async function startServer({ mode = 'sandbox' as Mode, demoKey = null as string | null } = {}) {
  const { url, remove } = await newDatabase(everyEngine[0] ?? 'sqlite')
  const db = await openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
  const logger = createLogger('silent', { write: () => {} })
  const server = createServer({ service: createService({ db, mode }), logger, rateLimit: 1, demoKey })
  onTestFinished(async () => {
    await server.close()
    await db.close()
    await remove()
  })
  return server
}

const document = openapiDocument(groups)

describe.each(['sandbox', 'live'] as const)('the reference in %s', (mode) => {
  test('is there for programs, without a key', async () => {
    const server = await startServer({ mode })
    const answer = await server.inject('/openapi.json')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual(JSON.parse(JSON.stringify(document)))
  })

  test('is there for people, with every endpoint', async () => {
    const server = await startServer({ mode })
    const answer = await server.inject('/docs')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    for (const { operationId, summary } of operations) {
      expect(answer.body).toContain(`<a href="#${operationId}">${summary}</a>`)
      expect(answer.body.split(`id="${operationId}"`)).toHaveLength(2)
    }
    for (const type of eventTypes) expect(answer.body.split(`id="${type}"`)).toHaveLength(2)
    const links = [...answer.body.matchAll(/href="#([^"]+)"/g)].map(([, name]) => name)
    expect(links.filter((name) => !answer.body.includes(`id="${name}"`))).toEqual([])
  })

  test.each(['/openapi.json', '/docs'])('is kept by whoever has it: %s', async (url) => {
    const server = await startServer({ mode })
    const { headers } = await server.inject(url)
    expect(headers['cache-control']).toBe('public, no-cache')
    const again = (tag: string) => server.inject({ url, headers: { 'if-none-match': tag } })
    const known = await again(String(headers.etag))
    expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, '', headers.etag])
    expect((await again('W/"another"')).statusCode).toBe(200)
    expect((await server.inject({ url, method: 'HEAD' })).statusCode).toBe(200)
  })
})

test('the page runs its one script, loads nothing but its mark, and has its own style', async () => {
  const server = await startServer()
  const { headers, body } = await server.inject('/docs')
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(body) ?? []
  const [, script = ''] = /<script>(.*?)<\/script>/s.exec(body) ?? []
  const [ofScript, ofStyle] = [script, style].map((text) => createHash('sha256').update(text).digest('base64'))
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; script-src 'sha256-${ofScript}'; style-src 'sha256-${ofStyle}'; img-src 'self'; base-uri 'none'; ` +
      "form-action 'none'; frame-ancestors 'none'",
  )
  expect(body.match(/<script/g)).toHaveLength(1)
  expect(body).not.toMatch(
    /<script[^>]|<img|<iframe|<link(?! rel="icon" href="\/favicon.svg")|\sstyle=|\son\w+=|url\(|@import/i,
  )
  // The buttons that copy are the script's: where none runs there is none, and all else is there.
  expect(body).not.toContain('<button')
})

test.each([
  ['sandbox', ['/', '#top', '/openapi.json', '/graphql']],
  ['live', ['/', '#top', '/openapi.json']],
] as const)('the page leads to the others in %s', async (mode, links) => {
  const { body } = await (await startServer({ mode })).inject('/docs')
  const [, top = ''] = /<nav[^>]*>(.*?)<h2>/s.exec(body) ?? []
  expect([...top.matchAll(/href="([^"]+)"/g)].map(([, link]) => link)).toEqual(links)
})

test('the examples have the demo key where there is one', async () => {
  const headers = { host: 'localhost:4000' }
  const withDemo = await (await startServer({ demoKey: demoApiKey })).inject({ url: '/docs', headers })
  expect(withDemo.body).toContain(`-H &#39;x-api-key: ${demoApiKey}&#39;`)
  expect(withDemo.body).toContain('curl -s &#34;http://localhost:4000/api/customers?limit=2&#34;')
  expect(withDemo.body).not.toContain('$API_KEY')

  // A live service is reached by TLS, and its key is nobody's to show.
  const live = await (await startServer({ mode: 'live' })).inject({ url: '/docs', headers })
  expect(live.body).toContain('-H &#34;x-api-key: $API_KEY&#34;')
  expect(live.body).toContain('curl -s &#34;https://localhost:4000/api/customers?limit=2&#34;')
  expect(live.body).not.toContain('pgw_')
})

test('the examples are for where the caller found the service, if that is the name of a place', async () => {
  const server = await startServer()
  for (const [host, shown] of [
    ['pay.example.com:8443', 'http://pay.example.com:8443/api'],
    ['[::1]:4000', 'http://[::1]:4000/api'],
    ['"><b>', 'http://localhost/api'],
    ['a"; rm -rf $HOME; "', 'http://localhost/api'],
  ] as const) {
    const { body } = await server.inject({ url: '/docs', headers: { host } })
    expect(/<pre>([^<]*)<\/pre>/.exec(body)?.[1]).toBe(shown)
  }
})

test('the start says where it is', () => {
  const config = { mode: 'live', databaseUrl: 'sqlite:payouts.sqlite' } as Config
  expect(greeting(config, 'http://127.0.0.1:4000', false)).toContain('http://127.0.0.1:4000/docs')
})

const hostile = `<b title="it's">&amp;</b>`

test('the page shows every text as it is', () => {
  const [, customers] = Object.entries(document.paths)[0] ?? []
  const operation = { ...customers?.get, summary: hostile, description: `A \`${hostile}\` here.` }
  const paths = { [`/api/${hostile}`]: { get: operation } } as typeof document.paths
  const page = docsPage({ ...document, paths }, { origin: `http://${hostile}`, key: hostile, mode: 'sandbox' })
  expect(page).not.toContain('<b title')
  expect(page).toContain('A <code>&#60;b title=&#34;it&#39;s&#34;&#62;&#38;amp;&#60;/b&#62;</code> here.')
})

test('a shell reads an example as it is meant', () => {
  const operation = document.paths['/api/wallets']?.post
  if (!operation?.requestBody) throw new Error('there is no such operation')
  const example = { description: 'Ada\'s $HOME `id` \\ "savings"' }
  operation.requestBody.content['application/json'].example = example
  const command = curl(
    { method: 'POST', path: '/api/wallets/{wallet_id}', operation },
    { origin: 'http://a', key: null, mode: 'sandbox' },
  )
  const script = command.replace('curl', String.raw`printf '%s\0'`)
  const read = execFileSync('sh', ['-c', script], { env: { API_KEY: 'k', WALLET_ID: 'w' }, encoding: 'utf8' })
  const [quiet, url, ...given] = read.split('\0').slice(0, -1)
  expect([quiet, url]).toEqual(['-s', 'http://a/api/wallets/w'])
  expect(given.slice(0, -1)).toEqual([
    ...['-H', 'x-api-key: k', '-H', 'idempotency-key: my-first-createWallet'],
    ...['-H', 'content-type: application/json', '-d'],
  ])
  expect(JSON.parse(given.at(-1) ?? '')).toEqual(example)
})
