import { describe, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import type { ConsoleResponse } from './support/open-console.ts'
import { expectSecurityHeaders, openConsole } from './support/open-console.ts'

const minute = 60_000

/** Opens a console with a fake clock. */
async function start() {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp('sqlite', { clock: () => nowMs })
  const console = await openConsole(app)
  return {
    app,
    console,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

/** Asserts that a response without access reveals nothing of the console. */
function expectClosed({ status, text, headers }: ConsoleResponse): void {
  expect(status).toBe(403)
  expect(text).not.toContain('<nav')
  expect(text).not.toContain('Test merchant')
  expect(headers['set-cookie']).toBe(undefined)
}

describe('the console link', () => {
  test('can be used once, and the session that it started continues', async () => {
    const { console } = await start()
    const entered = await console.enter()
    expect(entered.status).toBe(303)
    expect(entered.headers.location).toBe(`${console.entrance.basePath}/`)
    expect((await console.get('/')).text).toContain('<h1>Overview</h1>')

    expectClosed(await console.ask('GET', console.link))
    // The first user keeps the session.
    expect((await console.get('/merchants')).text).toContain('Test merchant')
  })

  test('sets a session cookie that is HttpOnly, SameSite and limited to this port', async () => {
    const { console } = await start()
    const { headers } = await console.enter()
    const [cookie] = headers['set-cookie'] as string[]
    expect(cookie).toMatch(
      new RegExp(`^payout_gateway_console=[\\w-]{43}; Path=${console.entrance.basePath}; HttpOnly; SameSite=Strict$`),
    )
    expect(console.entrance.basePath).toMatch(/^\/[0-9a-f]{32}$/)
    expect(console.entrance.linkToken).toMatch(/^[\w-]{43}$/)
  })

  test('is not used up by a HEAD request or by a request from a page of another site', async () => {
    const { console } = await start()
    expectClosed(await console.ask('HEAD', console.link).then((response) => ({ ...response, text: '' })))
    for (const site of ['cross-site', 'same-site']) {
      expectClosed(await console.ask('GET', console.link, { 'sec-fetch-site': site }))
    }
    expect((await console.enter()).status).toBe(303)
  })

  test('expires after ten minutes', async () => {
    const { console, pass } = await start()
    pass(10 * minute + 1)
    expectClosed(await console.ask('GET', console.link))
    expect(console.entrance.endReason()).toBe('The link was not opened in time.')
  })

  test('of another console is rejected', async () => {
    const { app, console } = await start()
    const other = await openConsole(app)
    expectClosed(await console.ask('GET', other.link))
    await other.enter()
    expectClosed(await console.ask('GET', `${console.entrance.basePath}/`, { cookie: other.session() }))
  })
})

describe('without a session', () => {
  test('the response is the same for every page and form, whether or not the page or form exists', async () => {
    const { console } = await start()
    const { basePath: base } = console.entrance
    await console.enter()
    const responses = []
    for (const path of ['/', '/payouts', `${base}/`, `${base}/payouts`, `${base}/nowhere`, '/nowhere', '/?token=']) {
      responses.push(await console.ask('GET', path))
    }
    responses.push(await console.ask('POST', `${base}/rails`, { origin: console.origin }))
    for (const response of responses) expectClosed(response)
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
  })

  test('twenty requests with wrong links make the right link invalid', async () => {
    const { console } = await start()
    for (let guess = 0; guess < 20; guess++) expectClosed(await console.ask('GET', `/?token=guess-${guess}`))
    expectClosed(await console.ask('GET', console.link))
    expect(console.entrance.endReason()).toBe('Too many requests had a wrong link or cookie.')
  })

  test('twenty requests with wrong session cookies make the right session cookie invalid', async () => {
    const { console } = await start()
    await console.enter()
    const { basePath: base } = console.entrance
    for (let guess = 0; guess < 20; guess++) {
      expectClosed(await console.ask('GET', `${base}/`, { cookie: `payout_gateway_console=guess-${guess}` }))
    }
    expectClosed(await console.get('/'))
  })
})

describe('the session', () => {
  test('ends after 30 minutes without a request', async () => {
    const { console, pass } = await start()
    await console.enter()
    for (let times = 0; times < 3; times++) {
      pass(29 * minute)
      expect((await console.get('/')).status).toBe(200)
    }
    pass(30 * minute + 1)
    expectClosed(await console.get('/'))
    // It does not come back.
    expectClosed(await console.get('/'))
  })

  test('ends after twelve hours, even if it is in use', async () => {
    const { console, pass } = await start()
    await console.enter()
    for (let times = 0; times < 28; times++) {
      pass(25 * minute)
      expect((await console.get('/')).status).toBe(200)
    }
    pass(25 * minute)
    expectClosed(await console.get('/'))
  })

  test('cannot be used after the operator has ended it', async () => {
    const { console } = await start()
    await console.enter()
    const { text } = await console.get('/')
    const [, form = ''] = /action="[^"]*\/end"><input type="hidden" name="_form" value="([^"]*)"/.exec(text) ?? []
    expect((await console.post('/end', { _form: 'made up' })).status).toBe(403)
    expect((await console.get('/')).status).toBe(200)

    expect((await console.post('/end', { _form: form })).status).toBe(200)
    expectClosed(await console.get('/'))
    expect(console.entrance.endReason()).toBe('The session was ended.')
  })
})

describe('a request to the console', () => {
  test('with another Host header is rejected, even with the session cookie', async () => {
    const { console } = await start()
    await console.enter()
    const port = new URL(console.origin).port
    for (const host of ['rebound.example', `rebound.example:${port}`, `localhost:${port}`, '127.0.0.1', 'x']) {
      expectClosed(await console.get('/', { host }))
    }
    expect((await console.get('/', { host: `127.0.0.1:${port}` })).status).toBe(200)
  })

  test('with two Host headers is rejected as malformed, in any order and even with the session cookie', async () => {
    const { console } = await start()
    await console.enter()
    const own = new URL(console.origin).host
    const path = `${console.entrance.basePath}/`
    const both = [
      ['host', own, 'Host', 'rebound.example'],
      ['host', 'rebound.example', 'host', own],
      ['host', own, 'HOST', own],
    ]
    for (const hosts of both) {
      const response = await console.ask('GET', path, [...hosts, 'cookie', console.session()])
      expect([response.status, response.text.includes('<nav')]).toEqual([400, false])
      expect(response.text).toContain('The Host header must be given once.')
    }
    expect((await console.ask('GET', path, ['host', own, 'cookie', console.session()])).status).toBe(200)
  })

  test('with Sec-Fetch-Site: cross-site or same-site is rejected', async () => {
    const { console } = await start()
    await console.enter()
    for (const site of ['cross-site', 'same-site']) expectClosed(await console.get('/', { 'sec-fetch-site': site }))
    expect((await console.get('/', { 'sec-fetch-site': 'none' })).status).toBe(200)
  })

  test.each([
    ['of another site', 'https://evil.example'],
    ['of another port', 'http://127.0.0.1:1'],
    ['that is null', 'null'],
    ['that is missing', undefined],
  ])('that posts a form with an Origin header %s changes nothing', async (_, origin) => {
    const { console } = await start()
    await console.enter()
    const fields = { ...(await console.form('/rails', 'rail pause', 'sandbox')), reason: 'forged' }
    const { cookie, ...headers } = { cookie: console.session(), 'content-type': 'application/x-www-form-urlencoded' }
    const sent = { cookie, ...headers, ...(origin !== undefined && { origin }) }
    const body = new URLSearchParams(fields).toString()
    expectClosed(await console.ask('POST', `${console.entrance.basePath}/rails`, sent, body))
    expect(await console.kept()).toEqual([])
  })

  test('that posts a form changes nothing without the CSRF token for the same page and object', async () => {
    const { app, console } = await start()
    await console.enter()
    const { _form: form, ...rest } = await console.form('/rails', 'rail pause', 'sandbox')
    const [id = '', seal = ''] = form?.split('.') ?? []
    const merchant = `/merchants/${app.merchant.id}`
    const forged: readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[] = [
      ['/rails', rest],
      ['/rails', { ...rest, _form: '' }],
      ['/rails', { ...rest, _form: id }],
      ['/rails', { ...rest, _form: `${id}.` }],
      ['/rails', { ...rest, _form: `${app.service.newId()}.${seal}` }],
      ['/rails', { ...rest, _form: form ?? '', _target: 'other' }],
      ['/rails', { ...rest, _form: form ?? '', _action: 'rail resume' }],
      [merchant, { ...rest, _form: form ?? '' }],
      [merchant, { ...(await console.form(merchant, 'key create')), _action: 'key rotate' }],
    ]
    for (const [path, fields] of forged) {
      expect((await console.post(path, { ...fields, reason: 'forged' })).status).toBe(403)
    }
    expect(await console.kept()).toEqual([])
    const { body } = await app.rest('GET', '/api/customers')
    expect(body.error).toBe(undefined)
  })

  test('with a body that is not a form, or is too long, is rejected', async () => {
    const { console } = await start()
    await console.enter()
    expect((await console.post('/rails', {}, { 'content-type': 'application/json' })).status).toBe(415)
    expect((await console.post('/rails', { reason: 'x'.repeat(2_000_000) })).status).toBe(413)
    expect((await console.get('/%')).status).toBe(400)
    expect(console.faults).toEqual([])
  })
})

test('every response of the console forbids scripts, caching and framing', async () => {
  const { console } = await start()
  const [entered, page, closed, missing] = [
    await console.enter(),
    await console.get('/'),
    await console.ask('GET', '/'),
    await console.get('/nowhere'),
  ]
  expect(missing.status).toBe(404)
  for (const response of [entered, page, closed, missing]) expectSecurityHeaders(response)
})
