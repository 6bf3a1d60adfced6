import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Config } from '../../src/app/config.ts'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { startupMessage } from '../../src/app/start.ts'
import { httpStatusByCode } from '../../src/core/api/http-status.ts'
import { errorCodes } from '../../src/core/errors.ts'
import { demoApiKey } from '../../src/demo/demo.ts'
import { sandboxAccounts } from '../../src/modules/rail-orders/sandbox-accounts.ts'
import { webhookFormats } from '../../src/modules/webhooks/transport/formats.ts'
import type { Mode } from '../../src/operations/context.ts'
import { createService } from '../../src/operations/context.ts'
import { errorDescriptions } from '../../src/rest/error-responses.ts'
import { createServer } from '../../src/server/host.ts'
import { openapiDocument } from '../../src/server/pages/openapi.ts'
import { endpointGroups } from '../../src/server/rest/routes.ts'
import { everyEngine, newDatabase } from '../support/app.ts'

/** A service with an empty database; requests have no API key. */
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

describe.each(['sandbox', 'live'] as const)('the API reference in mode %s', (mode) => {
  test('the OpenAPI document is served to programs without an API key', async () => {
    const server = await startServer({ mode })
    const response = await server.inject('/openapi.json')
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.json()).toEqual(JSON.parse(JSON.stringify(openapiDocument(endpointGroups, mode))))
  })

  test('the reference page loads only the script of this service, and links to the document', async () => {
    const server = await startServer({ mode })
    const { statusCode, headers, body } = await server.inject('/docs')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect([...body.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)).toEqual(['<script src="/docs/scalar.js">'])
    expect(body).toMatch(/<noscript>[^\n]*<a href="\/openapi.json">/)
    expect(body).not.toMatch(/https?:|\/\/|\son\w+=|url\(|@import/)
    const links = [...body.matchAll(/href="([^"]+)"/g)].map(([, link]) => link)
    const graphiql = { sandbox: ['/graphql'], live: [] }[mode]
    expect(links).toEqual(['/favicon.svg', '/', ...graphiql, '/openapi.json', '/openapi.json'])
  })

  test.each(['/openapi.json', '/docs', '/docs/errors', '/docs/scalar.js'])(
    'the reference is revalidated by its ETag: %s',
    async (url) => {
      const server = await startServer({ mode })
      const { headers } = await server.inject(url)
      expect(headers['cache-control']).toBe('public, no-cache')
      const again = (tag: string) => server.inject({ url, headers: { 'if-none-match': tag } })
      const known = await again(String(headers.etag))
      expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, '', headers.etag])
      expect((await again('W/"another"')).statusCode).toBe(200)
      const head = await server.inject({ url, method: 'HEAD' })
      expect([head.statusCode, head.body]).toEqual([200, ''])
      const other = await server.inject({ url, method: 'POST' })
      expect([other.statusCode, other.headers.allow]).toEqual([405, 'GET, HEAD'])
    },
  )

  test.each(['/openapi.json', '/docs', '/docs/errors'])(
    'the reference is compressed with an encoding that the client accepts: %s',
    async (url) => {
      const server = await startServer({ mode })
      const plain = await server.inject(url)
      expect(plain.headers).not.toHaveProperty('content-encoding')
      expect(plain.headers.vary).toContain('accept-encoding')
      for (const [accept, encoding, decompress] of [
        ['gzip, deflate, br', 'br', brotliDecompressSync],
        ['gzip', 'gzip', gunzipSync],
        ['br;q=0, gzip', 'gzip', gunzipSync],
      ] as const) {
        const { headers, rawPayload } = await server.inject({ url, headers: { 'accept-encoding': accept } })
        expect(headers).toMatchObject({
          'content-encoding': encoding,
          vary: plain.headers.vary,
          etag: plain.headers.etag,
        })
        expect(rawPayload.length).toBeLessThan(plain.rawPayload.length)
        expect(decompress(rawPayload).toString()).toBe(plain.body)
      }
    },
  )

  test('the page of errors explains every code of REST under the anchor of its problem type', async () => {
    const server = await startServer({ mode })
    const { statusCode, headers, body } = await server.inject('/docs/errors')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const style = /<style>(.*?)<\/style>/s.exec(body)?.[1] ?? ''
    expect(headers['content-security-policy']).toContain(
      `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    )
    const rows = [...body.matchAll(/<tr id="(\w+)">\n<td>(\d+)<\/td>/g)].map(([, id, status]) => [id, Number(status)])
    const documented = errorCodes.filter((code) => errorDescriptions[code] !== null)
    expect(rows).toEqual(documented.map((code) => [code.toLowerCase(), httpStatusByCode[code]]))
    const { statusCode: status, body: problem } = await server.inject({
      url: '/api/customers',
      headers: { accept: 'application/problem+json' },
    })
    const { type } = JSON.parse(problem)
    expect([status, type]).toEqual([401, '/docs/errors#missing_token'])
    expect(body).toContain(`id="${type.split('#')[1]}"`)
  })

  test("the OpenAPI document describes the common rules of all endpoints, and in the sandbox also the sandbox's bank accounts", () => {
    const { description } = openapiDocument(endpointGroups, mode).info
    const headings = [...description.matchAll(/^## (.*)$/gm)].map(([, title]) => title)
    expect(headings).toEqual(
      expect.arrayContaining(['Keys', 'Requests', 'Retries', 'Errors', 'Events', 'Webhooks', 'GraphQL']),
    )
    expect(description).toContain(`| 429 | \`RATE_LIMITED\` | ${errorDescriptions.RATE_LIMITED} |`)
    for (const format of webhookFormats) expect(description).toContain(`| \`${format}\` | `)
    const accounts = Object.entries(sandboxAccounts).map(([digits, does]) => `| \`99999999${digits}\` | ${does} |`)
    expect(accounts.filter((row) => description.includes(row))).toEqual(mode === 'sandbox' ? accounts : [])
  })
})

test.each([
  [
    'sandbox',
    demoApiKey,
    {
      hideTestRequestButton: false,
      authentication: { preferredSecurityScheme: 'apiKey', securitySchemes: { apiKey: { value: demoApiKey } } },
    },
  ],
  ['live', null, { hideTestRequestButton: true }],
] as const)(
  'the script of the reference has no external features, and in mode %s contains the API key %s',
  async (mode, demoKey, own) => {
    const server = await startServer({ mode, demoKey })
    const { headers, rawPayload } = await server.inject({
      url: '/docs/scalar.js',
      headers: { 'accept-encoding': 'br' },
    })
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      vary: 'accept-encoding',
    })
    expect(rawPayload.length).toBeLessThan(1_500_000)
    const script = brotliDecompressSync(rawPayload).toString()
    expect(JSON.parse(/\.\.\.(\{.*\}),\n\}\)\n$/.exec(script)?.[1] ?? '')).toEqual({
      url: '/openapi.json',
      slug: 'rest',
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
      withDefaultFonts: false,
      ...own,
    })
    expect(script.includes('pgw_')).toBe(demoKey !== null)
  },
)

test('the startup message has the URL of the API reference', () => {
  const config = { mode: 'live', databaseUrl: 'sqlite:payouts.sqlite' } as Config
  expect(startupMessage(config, 'http://127.0.0.1:4000', false)).toContain('http://127.0.0.1:4000/docs')
})
