import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { demoApiKey } from '../../src/demo/demo.ts'
import { createServer } from '../../src/server/host.ts'
import { startApp } from '../support/app.ts'

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', host: 'localhost:4000' }

/** The service in a mode, with or without the demo merchant: the pages do not depend on the engine. */
async function start({ mode = 'sandbox' as 'sandbox' | 'live', demoKey = null as string | null } = {}) {
  const { service } = await startApp('sqlite')
  const logger = createLogger('silent', { write: () => {} })
  return createServer({ service: { ...service, mode }, logger, rateLimit: 1, demoKey })
}

const linksIn = (body: string) => [...body.matchAll(/href="([^"]+)"/g)].map(([, link]) => String(link))

describe('the home page', () => {
  test('the home page describes the service and links to every page, with the demo key if one exists', async () => {
    const server = await start({ demoKey: demoApiKey })
    const { statusCode, headers, body } = await server.inject({ url: '/', headers: browser })
    expect([statusCode, headers['content-type'], headers.vary]).toEqual([200, 'text/html; charset=utf-8', 'accept'])
    expect(body).toContain('A self-hosted payout and wallet service for stablecoins.')
    expect(linksIn(body)).toEqual(['/favicon.svg', '/graphql', '/docs', '/openapi.json', '/readyz'])
    expect(body).toContain(`curl -s http://localhost:4000/api/customers \\\n  -H &#39;x-api-key: ${demoApiKey}&#39;`)
    for (const url of linksIn(body)) {
      expect([url, (await server.inject({ url, headers: browser, method: 'HEAD' })).statusCode]).toEqual([url, 200])
    }
  })

  test.each([
    ['in a sandbox of other merchants', 'sandbox', ['/favicon.svg', '/graphql', '/docs', '/openapi.json', '/readyz']],
    ['in live mode', 'live', ['/favicon.svg', '/docs', '/openapi.json', '/readyz']],
  ] as const)('the home page shows no API key %s', async (_, mode, links) => {
    const { body } = await (await start({ mode })).inject({ url: '/', headers: browser })
    expect(linksIn(body)).toEqual(links)
    expect(body).not.toMatch(/pgw_|curl/)
  })

  test('the home page is plain text for clients that do not accept HTML, and can be cached', async () => {
    const server = await start({ demoKey: demoApiKey })
    for (const accept of [undefined, '*/*', 'application/json', 'text/html;q=0, */*']) {
      const headers = { host: 'localhost:4000', ...(accept && { accept }) }
      const { statusCode, headers: sent, body } = await server.inject({ url: '/', headers })
      expect([accept, statusCode, sent['content-type']]).toEqual([accept, 200, 'text/plain; charset=utf-8'])
      expect(body).toContain('http://localhost:4000/docs')
      expect(body).toContain(`-H 'x-api-key: ${demoApiKey}'`)
      const again = await server.inject({ url: '/', headers: { ...headers, 'if-none-match': String(sent.etag) } })
      expect([again.statusCode, again.body]).toEqual([304, ''])
    }
  })

  test('the home page has one inline style and one inline script, and loads only the logo', async () => {
    const { headers, body } = await (await start({ demoKey: demoApiKey })).inject({ url: '/', headers: browser })
    const hashOf = (name: string) => {
      const [, content = ''] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(body) ?? []
      return createHash('sha256').update(content).digest('base64')
    }
    expect(headers).toMatchObject({
      'content-security-policy':
        `default-src 'none'; script-src 'sha256-${hashOf('script')}'; style-src 'sha256-${hashOf('style')}'; ` +
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    expect(body).not.toMatch(/<script[^>]|<img|<iframe|\sstyle=|\son\w+=|url\(|@import|https?:\/\/(?!localhost)/i)
  })
})

test.each(['/favicon.svg', '/favicon.ico'])('the logo at %s is small and publicly cacheable', async (url) => {
  const { statusCode, headers, body } = await (await start()).inject(url)
  expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'image/svg+xml',
    'public, no-cache',
  ])
  expect(body).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" .*<\/svg>\n$/s)
  expect(body.length).toBeLessThan(500)
})

describe('the page for a missing path', () => {
  test.each(['/nowhere', '/docs/nowhere', '/graph', '/apis', '/%zz'])('is sent to a browser: %s', async (url) => {
    const headers = { ...browser, 'x-request-id': 'mine & <b>yours</b>' }
    const response = await (await start()).inject({ url, headers })
    expect([response.statusCode, response.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': headers['x-request-id'] })
    expect(linksIn(response.body)).toEqual(['/favicon.svg', '/', '/docs'])
    expect(response.body).toContain('mine &#38; &#60;b&#62;yours')
  })

  test.each([
    ['a program', 'GET', '/nowhere', 'application/json'],
    ['a client that accepts anything', 'GET', '/nowhere', '*/*'],
    ['a client that accepts no HTML', 'GET', '/nowhere', 'text/html;q=0, */*'],
    ['a browser below the REST endpoints', 'GET', '/api/nowhere', browser.accept],
    ['a browser below /graphql', 'GET', '/graphql/nowhere', browser.accept],
    ['a client that posts', 'POST', '/nowhere', browser.accept],
  ] as const)('is not sent to %s, which gets the JSON envelope', async (_, method, url, accept) => {
    const response = await (await start()).inject({ method, url, headers: { accept, 'x-request-id': 'r' } })
    expect([response.statusCode, response.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8'])
    expect(response.body).toBe(
      '{"status":"failed","message":"There is no such endpoint.","error":{"code":"ENDPOINT_NOT_FOUND",' +
        '"message":"There is no such endpoint."},"request_id":"r"}',
    )
  })
})

describe('a path with a trailing slash', () => {
  test.each([
    ['GET', '/docs/', '/docs'],
    ['HEAD', '/docs/', '/docs'],
    ['GET', '/graphql/', '/graphql'],
    ['GET', '/graphql/?query=%7Bmerchant%7Bid%7D%7D', '/graphql?query=%7Bmerchant%7Bid%7D%7D'],
    ['POST', '/graphql/', '/graphql'],
  ] as const)('in a %s of %s is redirected to the relative location %s', async (method, url, location) => {
    const server = await start()
    const body = method === 'POST' && { payload: '{"query":"{merchant{id}}"}' }
    const headers = { ...browser, 'content-type': 'application/json', host: 'attacker.example' }
    const response = await server.inject({ method, url, headers, ...body })
    expect([response.statusCode, response.headers.location, response.body]).toEqual([308, location, ''])
    expect(response.headers['cache-control']).toBe('no-store')
  })

  test.each(['/docs/?x=//attacker.example', '/graphql/#/attacker.example'])(
    'is never redirected to another host: %s',
    async (url) => {
      const { headers } = await (await start()).inject({ url, headers: browser })
      expect(String(headers.location)).toMatch(/^\/(docs|graphql)([?#]|$)/)
    },
  )
})
