import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import type { Secrets } from '../../src/core/secrets/secrets.ts'
import { noSecrets } from '../../src/core/secrets/secrets.ts'
import { demoApiKey, seedDemo } from '../../src/demo/demo.ts'
import { tourTabs } from '../../src/demo/tour.ts'
import { auditBooks } from '../../src/modules/audit/audit.ts'
import type { Mode } from '../../src/operations/context.ts'
import { createService } from '../../src/operations/context.ts'
import { schemaFor } from '../../src/server/graphql/schema.ts'
import { createServer } from '../../src/server/host.ts'
import type { GraphiqlTab } from '../../src/server/pages/graphiql.ts'
import { graphiqlPage } from '../../src/server/pages/graphiql.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, newDatabase, testSecrets } from '../support/app.ts'
import { leastCpuMs } from '../support/cpu.ts'

/** The service after its first start: the demo merchant in the sandbox, and no other data. */
async function startEmpty(
  engine: Engine,
  {
    mode = 'sandbox',
    tabs,
    secrets = testSecrets,
    onEnd = onTestFinished,
  }: { mode?: Mode; tabs?: GraphiqlTab[]; secrets?: Secrets; onEnd?: (close: () => Promise<void>) => void } = {},
) {
  const { url, remove } = await newDatabase(engine)
  const db = await openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
  const service = createService({ db, mode, secrets })
  if (mode === 'sandbox') await seedDemo(service)
  const logger = createLogger('silent', { write: () => {} })
  const server = createServer({ service, logger, rateLimit: null, ...(tabs && { tabs: async () => tabs }) })
  onEnd(async () => {
    await server.close()
    await db.close()
    await remove()
  })
  const get = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    server.inject({ method, url: '/graphql', headers: { accept: 'text/html,*/*;q=0.8', ...headers } })

  return {
    service,
    get,
    /** Runs a tab like its Run button. */
    async run({ query, variables = '{}', headers = '{}' }: GraphiqlTab) {
      const payload = { query, variables: JSON.parse(variables), operationName: nameOf(query) }
      const isSubscription = query.includes('\nsubscription ')
      const accept = isSubscription ? 'text/event-stream' : 'application/json'
      const request = { method: 'POST', url: '/graphql?graphiql', headers: { ...JSON.parse(headers), accept } } as const
      const response = await server.inject({ ...request, payload, payloadAsStream: true })
      let text = ''
      for await (const chunk of response.stream()) {
        text += chunk
        // A stream stays open; the page shows its first event.
        if (isSubscription && text.includes('data: {')) break
      }
      return JSON.parse(isSubscription ? (/^data: (\{.*\})$/m.exec(text)?.[1] ?? '{}') : text)
    },
  }
}

function nameOf(query: string): string | undefined {
  return /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1]
}

/** The responses of the tabs: each of their fields, by the name of the tab. */
async function runAll(app: Awaited<ReturnType<typeof startEmpty>>, tabs: readonly GraphiqlTab[]) {
  const responses = new Map<string | undefined, Record<string, unknown>>()
  for (const tab of tabs) {
    const { data, errors } = await app.run(tab)
    expect([nameOf(tab.query), errors]).toEqual([nameOf(tab.query), undefined])
    const types = Object.values(data).map((field) => (field as { __typename?: string } | null)?.__typename ?? '')
    expect([nameOf(tab.query), types]).toEqual([nameOf(tab.query), types.filter((type) => !type.endsWith('Error'))])
    expect(Object.values(data)).not.toContain(null)
    responses.set(nameOf(tab.query), data)
  }
  return Object.fromEntries(responses)
}

/** The payout in the response of a tab. */
function payoutIn(response: unknown): Record<string, unknown> {
  const [field] = Object.values(response as Record<string, Record<string, unknown>>)
  return (field?.payout ?? field) as Record<string, unknown>
}

describe.each(everyEngine)('the GraphiQL tour on %s', (engine) => {
  test("the tour's tabs are numbered in order, and are valid documents with the demo key", async () => {
    const { service } = await startEmpty(engine)
    const tabs = await tourTabs(service)

    expect(tabs.map(({ query }) => Number(/^_(\d+)_/.exec(nameOf(query) ?? '')?.[1]))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ])
    for (const { query, headers = '' } of tabs) {
      expect(validate(schemaFor('sandbox'), parse(query))).toEqual([])
      // Text that a comment asks the reader to insert.
      for (const [, next = ''] of query.matchAll(/^# (subscription \{.*\})$/gm)) {
        expect(validate(schemaFor('sandbox'), parse(next))).toEqual([])
      }
      expect(JSON.parse(headers)).toEqual({ 'x-api-key': demoApiKey })
      // At 1280 pixels the editor shows 56 characters per line.
      expect(query.split('\n').filter((line) => line.startsWith('#') && line.length > 54)).toEqual([])
      // A phone shows the first eleven lines, so only the title precedes the operation.
      expect(query.split('\n')).toEqual([
        expect.stringMatching(/^# \d+\. /),
        expect.stringMatching(/^(query|mutation|subscription) /),
        ...query.split('\n').slice(2),
      ])
    }
  })

  test("the tour's tabs can run a second time with the same responses, and the second run moves no money", async () => {
    const app = await startEmpty(engine)
    const tabs = await tourTabs(app.service)

    const first = await runAll(app, tabs)
    expect(first).toMatchObject({
      _1_Me: { merchant: { name: 'Demo merchant' } },
      _2_Browse: { customers: { totalCount: 9 } },
      _3_Quote: {
        payoutQuote: {
          balanceAfter: expect.stringMatching(/^\d+\.\d{8}$/),
          warnings: [{ field: 'accountNumber', code: 'NUBAN' }],
        },
        payoutMethodRequirements: { country: 'Nigeria' },
      },
      _4_Open: {
        createWallet: { wallet: { balance: '0.00000000', customer: { email: 'ada.obi@example.com' } } },
      },
      _5_Fund: { simulateDeposit: { wallet: { balance: '1374.31250000' } } },
      _6_Pay: { createPayout: { payout: { status: 'PROCESSING', balance: '1348.24875000' } } },
      _7_Watch: { payoutChanged: { status: 'PROCESSING', events: [] } },
      _8_Bank: { simulatePayout: { payout: { recipientName: 'Ada Ngozi Obi', status: 'COMPLETED' } } },
      _9_Books: {
        wallet: {
          balance: '1348.24875000',
          ledgerEntries: { totalCount: 4, nodes: [{ payout: { status: 'COMPLETED' } }, {}, {}, {}] },
        },
      },
      _10_Events: {
        events: {
          nodes: expect.arrayContaining([
            expect.objectContaining({ type: 'PAYOUT_FAILED', version: 2 }),
            expect.objectContaining({ type: 'PAYOUT_RETURNED', version: 3 }),
          ]),
        },
        webhookEndpoints: { nodes: [{ url: 'http://127.0.0.1:4000/sandbox/webhooks', status: 'ENABLED' }] },
      },
      // No bank runs in this test.
      _11_Outcome: { createPayout: { payout: { status: 'PROCESSING', timeline: [{ state: 'QUEUED' }] } } },
    })

    // The same payout from the tab that creates it to the tab that settles it.
    const { id, transactionId } = payoutIn(first._6_Pay)
    for (const tab of ['_7_Watch', '_8_Bank']) expect(payoutIn(first[tab])).toMatchObject({ id, transactionId })

    const second = await runAll(app, tabs)
    const { _2_Browse, _5_Fund, _6_Pay, _7_Watch } = second
    const ofNow = ['_1_Me', '_2_Browse', '_5_Fund', '_6_Pay', '_7_Watch', '_10_Events']
    const lasting = (responses: object) => Object.entries(responses).filter(([name]) => !ofNow.includes(name))
    expect(lasting(second)).toEqual(lasting(first))
    // These tabs show the current state, after the payout left the wallet and the bank paid it.
    expect(_5_Fund).toMatchObject({ simulateDeposit: { wallet: { balance: '1348.24875000' } } })
    expect(_2_Browse).toMatchObject({ customers: { totalCount: 9 } })
    expect(payoutIn(_6_Pay)).toMatchObject({ id, balance: '1348.24875000' })
    expect(payoutIn(_7_Watch)).toMatchObject({ id, status: 'COMPLETED' })
    const { findings } = await auditBooks(app.service)
    expect(findings.filter(({ contradictions }) => contradictions > 0)).toEqual([])
  })

  test('the tour creates no webhook endpoint if no key for the encryption of secrets is set', async () => {
    const app = await startEmpty(engine, { secrets: noSecrets })
    const tab = (await tourTabs(app.service))[9] as GraphiqlTab
    expect((await app.run(tab)).data).toMatchObject({ webhookEndpoints: { nodes: [] } })
  })

  test("the tour's tabs work in any order, except those that need the payout of an earlier tab", async () => {
    const app = await startEmpty(engine)
    const tabs = await tourTabs(app.service)

    const isLater = ({ query }: GraphiqlTab) => /_[78]_/.test(nameOf(query) ?? '')
    const [watch, bank] = await Promise.all(tabs.filter(isLater).map(app.run))
    expect(watch.errors).toMatchObject([{ extensions: { code: 'RESOURCE_NOT_FOUND' } }])
    expect(bank.data).toMatchObject({ simulatePayout: { __typename: 'ResourceNotFoundError' } })

    const backwards = await runAll(app, tabs.filter((tab) => !isLater(tab)).toReversed())
    expect(backwards).toMatchObject({
      _9_Books: { wallet: { ledgerEntries: { totalCount: 2 } } },
      _6_Pay: { createPayout: { payout: { status: 'PROCESSING' } } },
    })
    // After a restart the service finds the tour's ids among more rows.
    expect(await tourTabs(app.service)).toEqual(tabs)
  })
})

describe('the GraphiQL page', () => {
  // Building the page takes two seconds, so most tests share one.
  const closing: (() => Promise<void>)[] = []
  let get: Awaited<ReturnType<typeof startEmpty>>['get']
  beforeAll(async () => {
    ;({ get } = await startEmpty('sqlite', { onEnd: (close) => closing.push(close) }))
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  test('GET /graphql returns the page to clients that prefer HTML, and not to programs', async () => {
    const status = async (accept: string) => (await get({ accept })).statusCode
    expect(await status('text/html;q=0.1, */*')).toBe(200)
    for (const accept of ['text/html;q=0, application/json', 'application/json']) expect(await status(accept)).toBe(401)
  })

  test('Accept-Encoding is parsed in linear time, even if its value is malicious', async () => {
    await get()
    // A character that Node keeps in a header and that a regular expression treats as white space.
    const ask = (character: string) => async () => {
      const { headers } = await get({ 'accept-encoding': `br, a${character.repeat(15_000)}b` })
      expect(headers['content-encoding']).toBe('br')
    }
    // Backtracking from each of them would take hundreds of times as long.
    expect(await leastCpuMs(ask('\u00a0'))).toBeLessThan(20 * (await leastCpuMs(ask('y'))))
  })

  test('the page loads no other resource, and is sent in an encoding that the browser accepts', async () => {
    const tabs = [{ query: 'query A { merchant { id } } # </script>', headers: '{"x-api-key":"k"}' }]
    const { get } = await startEmpty('sqlite', { tabs })

    const [br, gzip, plain, no] = await Promise.all([
      get({ 'accept-encoding': 'gzip, deflate, br, zstd' }),
      get({ 'accept-encoding': 'br;q=0, GZIP;q=0.5' }),
      get(),
      get({ 'accept-encoding': 'br;q=0.0, identity' }),
    ])
    expect([br, gzip, plain, no].map(({ headers }) => headers['content-encoding'])).toEqual([
      'br',
      'gzip',
      undefined,
      undefined,
    ])
    const html = plain.body
    expect(brotliDecompressSync(br.rawPayload).toString() === html).toBe(true)
    expect(gunzipSync(gzip.rawPayload).toString() === html).toBe(true)
    expect(no.body === html).toBe(true)
    // The script occurs once, and the page is below the two megabytes that a slow connection loads in ten
    // seconds.
    expect(br.rawPayload.length).toBeLessThan(2_000_000)
    expect(Number(br.headers['content-length'])).toBe(br.rawPayload.length)

    const script = html.slice(html.indexOf('<script>') + '<script>'.length, html.lastIndexOf('</script>'))
    const shell = html.replace(script, () => '')
    expect(shell.match(/<script/g)).toHaveLength(1)
    expect(
      [...shell.matchAll(/(?:src|href|url\(|@import)[\s="']*([a-z]+:)/g)].map(([, scheme]) => scheme),
    ).not.toContain('https:')
    expect(shell.includes('<title>GraphiQL · payout-gateway</title>')).toBe(true)
    expect(shell.includes('<meta name="viewport" content="width=device-width, initial-scale=1" />')).toBe(true)
    // Compared here to keep nine megabytes out of the failure report.
    expect(script.includes('# </script>')).toBe(false)
    expect(script.includes(JSON.stringify(tabs).replaceAll('<', '\\u003c'))).toBe(true)
    // Subscriptions use POST too: by GET, or to a URL relative to the page, they would reach another address.
    expect(script.includes(`"method":"POST"`)).toBe(true)
    expect(script.includes(`const endpoint = new URL('?graphiql', location.href).href`)).toBe(true)
    expect(script.includes(`<a href=\\"/docs\\">`.replaceAll('<', '\\u003c'))).toBe(true)
    expect(script.includes(`"defaultHeaders":${JSON.stringify(tabs[0]?.headers)}`)).toBe(true)

    const hash = createHash('sha256').update(script).digest('base64')
    expect(br.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        `default-src 'none'; script-src 'sha256-${hash}'; worker-src blob:; style-src 'unsafe-inline'; img-src 'self' data:; ` +
        "font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'private, no-cache',
      vary: 'accept, accept-encoding, origin',
    })
  })

  test('the page is revalidated by its ETag, and has instructions instead of a key if no demo merchant exists', async () => {
    const { headers, body, statusCode } = await get()
    expect(statusCode).toBe(200)
    // The operation comes before the text about it.
    expect(body.includes('# Welcome to payout-gateway. Notes below.\\nquery WhoAmI {')).toBe(true)
    expect(body.includes('pgw_sandbox_')).toBe(false)

    const etag = String(headers.etag)
    for (const known of [etag, etag.slice(2), `"other", ${etag}`]) {
      const again = await get({ 'if-none-match': known })
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag])
    }
    expect((await get({ 'if-none-match': 'W/"other"' })).statusCode).toBe(200)

    const head = await get({ 'accept-encoding': 'br' }, 'HEAD')
    expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', etag])
    expect(Number(head.headers['content-length'])).toBeGreaterThan(1_000_000)
  })

  test('live mode serves no GraphiQL page; a browser without an API key gets the same 401 as any caller', async () => {
    const { get } = await startEmpty('sqlite', { mode: 'live' })

    const [page, program, head] = [await get(), await get({ accept: 'application/json' }), await get({}, 'HEAD')]
    expect([page.statusCode, head.statusCode]).toEqual([401, 401])
    const withoutId = ({ body }: { body: string }) => body.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '')
    expect(withoutId(page)).toBe(withoutId(program))
    expect(page.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' })
  })

  test('concurrent requests share one build of the page in a worker thread, and a failed build is not cached', async () => {
    let buildCount = 0
    const page = graphiqlPage(async () => {
      buildCount++
      if (buildCount === 1) throw new Error('the database is busy')
      return []
    })

    await expect(page()).rejects.toThrow('the database is busy')
    const begun = [process.threadCpuUsage(), process.cpuUsage()] as const
    const [one, other] = await Promise.all([page(), page()])
    expect(one).toBe(other)
    expect(buildCount).toBe(2)
    // Loading, rendering and hashing run in a worker, so the main thread spends almost no time.
    const [own, whole] = [process.threadCpuUsage(begun[0]), process.cpuUsage(begun[1])]
    expect(own.user + own.system).toBeLessThan((whole.user + whole.system) / 3)
  })
})
