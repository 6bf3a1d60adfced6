import { describe, expect, test } from 'vitest'
import { hashPassword } from '../../src/core/secrets/password-hash.ts'
import { createOperator } from '../../src/modules/operators/manage-operators.ts'
import { startApp } from '../support/app.ts'
import { leastCpuMs } from '../support/cpu.ts'
import type { ConsoleResponse } from './support/open-console.ts'
import { expectSecurityHeaders, textOf } from './support/open-console.ts'
import { openOperatorConsole, proxied, publicUrl } from './support/open-operator-console.ts'

const minute = 60_000
const password = 'a long enough password'
const hostile = `<script>alert("x")</script>'"><img src=x onerror=alert(1)>`

/** Opens a console with a fake clock and the operator ada, who has a password. */
async function start(options: Parameters<typeof openOperatorConsole>[1] = {}) {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp('sqlite', { clock: () => nowMs })
  const console = await openOperatorConsole(app, options)
  const { token } = await createOperator(app.service, { name: 'ada', role: 'act' })
  await console.browser().useLink(token, password)
  console.log.length = 0
  return {
    app,
    console,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

type Console = Awaited<ReturnType<typeof start>>['console']

/** Guesses a password, and returns the status. */
async function guess(console: Console, { name = 'ada', from = '203.0.113.7', wrong = 'a wrong password' } = {}) {
  return (await console.browser(proxied(from)).signIn(name, wrong)).status
}

function expectRefused({ status, text, headers }: ConsoleResponse): void {
  expect([status, headers['set-cookie']]).toEqual([403, undefined])
  expect(text).not.toContain('<nav')
  expect(text).not.toContain('Test merchant')
}

const statusOf = async (asked: Promise<ConsoleResponse>) => (await asked).status

describe('the session cookie', () => {
  test('has the prefix __Host- and the attributes HttpOnly, Secure and SameSite=Strict', async () => {
    const { console } = await start()
    const { headers } = await console.browser().signIn('ada', password)
    const [cookie] = headers['set-cookie'] as string[]
    expect(cookie).toMatch(/^__Host-payout_gateway_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
  })

  test('on localhost without TLS keeps HttpOnly and SameSite=Strict, and omits __Host- and Secure', async () => {
    const url = 'http://localhost:4100'
    const { app, console } = await start({ url, trustedProxies: 0 })
    const browser = console.browser({ host: 'localhost:4100' })
    const { token } = await createOperator(app.service, { name: 'ben', role: 'act' })
    const { headers } = await browser.useLink(token)
    const [cookie] = headers['set-cookie'] as string[]
    expect(cookie).toMatch(/^payout_gateway_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    expect((await browser.get('/')).status).toBe(200)
  })

  test('is replaced at each sign-in, which prevents session fixation', async () => {
    const { console } = await start()
    const mallory = console.browser()
    await mallory.signIn('ada', password)
    const planted = mallory.session()
    const victim = console.browser()
    for (const cookie of [planted, '__Host-payout_gateway_console=planted']) {
      const entered = await victim.post('/sign-in', { name: 'ada', password }, { cookie })
      const [given] = String(entered.headers['set-cookie']).split(';')
      expect([entered.status, given === cookie, given?.length]).toEqual([303, false, planted.length])
      // The session that the browser sent has ended.
      expect((await mallory.get('/', { cookie })).status).toBe(303)
    }
    expect((await victim.get('/', { cookie: '__Host-payout_gateway_console=' })).status).toBe(303)
  })
})

describe('a session', () => {
  test('ends after 30 minutes without a request, and after twelve hours even if it is in use', async () => {
    const { console, pass } = await start()
    const [idle, busy] = [console.browser(), console.browser()]
    await idle.signIn('ada', password)
    await busy.signIn('ada', password)
    for (let minutes = 0; minutes < 12 * 60; minutes += 20) {
      expect([minutes, (await busy.get('/')).status]).toEqual([minutes, 200])
      pass(20 * minute)
      if (minutes === 40) expect((await idle.get('/')).status).toBe(303)
    }
    expect((await busy.get('/')).status).toBe(200)
    pass(1)
    expect((await busy.get('/')).status).toBe(303)
    expect((await busy.get('/')).headers.location).toBe('/sign-in')
  })

  test('is ended by a form that contains the session’s own token, and not by a form with the token of another session', async () => {
    const { console } = await start()
    const [ada, other] = [console.browser(), console.browser()]
    await ada.signIn('ada', password)
    await other.signIn('ada', password)
    const [tokenOfAda, tokenOfOther] = await Promise.all(
      [ada, other].map(async (browser) => {
        const { text } = await browser.get('/')
        return /action="\/end"><input type="hidden" name="_form" value="([^"]*)"/.exec(text)?.[1] ?? ''
      }),
    )
    expect(await statusOf(ada.post('/end', { _form: tokenOfOther ?? '' }))).toBe(403)
    expect(await statusOf(ada.get('/'))).toBe(200)
    const cookie = ada.session()
    const ended = await ada.post('/end', { _form: tokenOfAda ?? '' })
    expect([ended.status, ended.headers.location]).toEqual([303, '/sign-in'])
    expect(String(ended.headers['set-cookie'])).toMatch(/^__Host-payout_gateway_console=; .*; Secure; Max-Age=0$/)
    expect(await statusOf(ada.get('/', { cookie }))).toBe(303)
    expect(await statusOf(other.get('/'))).toBe(200)
  })

  test('that is the eleventh session of an operator ends the operator’s oldest session', async () => {
    const { app, console } = await start()
    const { token } = await createOperator(app.service, { name: 'ben', role: 'look' })
    const ben = console.browser()
    await ben.useLink(token)
    const browsers = []
    for (let count = 0; count < 10; count++) {
      const browser = console.browser()
      await browser.signIn('ada', password)
      browsers.push(browser)
    }
    const statuses = await Promise.all([ben, ...browsers].map(async (browser) => (await browser.get('/')).status))
    // The link of the start has opened one already.
    expect(statuses).toEqual(Array.from({ length: 11 }, () => 200))
    await console.browser().signIn('ada', password)
    expect(await statusOf(browsers[0]?.get('/') as never)).toBe(303)
    expect(await statusOf(browsers[1]?.get('/') as never)).toBe(200)
    expect(await statusOf(ben.get('/'))).toBe(200)
  })
})

describe('an operator in CONSOLE_USERS', () => {
  test('signs in with the password of the configured hash, and replaces a stored operator of the same name', async () => {
    const operators = [{ name: 'ada', role: 'look' as const, passwordHash: await hashPassword('of the environment') }]
    const { console } = await start({ operators })
    const browser = console.browser()
    expect((await browser.signIn('ada', password)).status).toBe(403)
    expect((await browser.signIn('ada', 'of the environment')).status).toBe(303)
    expect((await browser.get('/')).text).toContain('<strong>ada</strong> may look')
  })
})

describe('a wrong password', () => {
  test('gets the same response for a known name, an unknown name and a name without a password', async () => {
    const { app, console } = await start()
    await createOperator(app.service, { name: 'ben', role: 'act' })
    const responses = []
    for (const name of ['ada', 'ben', 'unknown', 'not a name', hostile, '']) {
      const response = await console.browser().signIn(name, 'a wrong password')
      expectRefused(response)
      expect(textOf(response.text)).toContain(`name="name" value="${name}"`)
      expect(response.text).not.toMatch(/<script|<img|a wrong password/)
      responses.push(textOf(response.text).replace(/name="name" value=".*" autocomplete.*/, ''))
    }
    expect(new Set(responses.slice(0, 5)).size).toBe(1)
    // The log names operators only, because other names may be passwords.
    expect(console.log.map((line) => (line as { operator: unknown }).operator)).toEqual([
      'ada',
      'ben',
      null,
      null,
      null,
      null,
    ])
  })

  test('takes about as much processor time for an unknown name as for a known name', async () => {
    const { console } = await start()
    let attempts = 0
    // Too many wrong passwords from one address would be rejected without a hash.
    const cpuMsOf = (name: string) =>
      leastCpuMs(async () => {
        const from = proxied(`203.0.113.${attempts++}`)
        expectRefused(await console.browser(from).signIn(name, 'a wrong password'))
      })
    const known = await cpuMsOf('ada')
    // Without the hash it would take about a hundredth.
    expect(await cpuMsOf('unknown')).toBeGreaterThan(known / 3)
  })

  test('sent five times for one operator blocks that operator from every address, even with the right password', async () => {
    const { console, pass } = await start()
    for (let count = 0; count < 5; count++) expect(await guess(console, { from: `203.0.113.${count}` })).toBe(403)
    const blocked = await console.browser(proxied('198.51.100.1')).signIn('ada', password)
    expect([blocked.status, blocked.headers['retry-after'], blocked.headers['set-cookie']]).toEqual([
      429,
      '1',
      undefined,
    ])
    expect(blocked.text).toContain('Too many wrong passwords. Try again in a second, or')
    expect(console.log.at(-1)).toMatchObject({ address: '198.51.100.1', message: expect.stringContaining('rejected') })
    pass(1_000)
    expect((await console.browser().signIn('ada', password)).status).toBe(303)
    expect((await console.browser().signIn('ada', password)).status).toBe(303)
  })

  test('sent five times for an unknown name blocks that name, and no other name', async () => {
    const { console } = await start()
    for (let count = 0; count < 5; count++) {
      expect(await guess(console, { name: 'unknown', from: `203.0.113.${count}` })).toBe(403)
    }
    expect(await guess(console, { name: 'unknown' })).toBe(429)
    expect(await guess(console, { name: 'Unknown ' })).toBe(429)
    expect((await console.browser().signIn('ada', password)).status).toBe(303)
  })

  test('sent twenty times from one IPv6 network blocks that network, and no other network', async () => {
    const { console } = await start()
    for (let count = 0; count < 20; count++) {
      expect(await guess(console, { name: `name-${count}`, from: `2001:db8:0:1::${count + 1}` })).toBe(403)
    }
    expect(await guess(console, { from: '2001:db8:0:1:ffff::1' })).toBe(429)
    expect((await console.browser(proxied('2001:db8:0:2::1')).signIn('ada', password)).status).toBe(303)
  })

  test('is counted before it is checked, so concurrent guesses are limited too', async () => {
    const { console } = await start()
    const statuses = await Promise.all(Array.from({ length: 40 }, () => guess(console)))
    expect(statuses.filter((status) => status === 403)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(35)
  })

  test('is not counted if the response was 503 because too many passwords were being checked', async () => {
    const { console } = await start()
    const statuses = await Promise.all(
      Array.from({ length: 60 }, (_, place) =>
        guess(console, { from: `203.0.113.${place}`, name: `name-${place % 20}` }),
      ),
    )
    expect(new Set(statuses)).toEqual(new Set([403, 503]))
    expect((await console.browser().signIn('ada', password)).status).toBe(303)
    expect(console.faults).toEqual([])
  })

  test('sent too often from an address does not block sign-in links from that address', async () => {
    const { app, console } = await start()
    for (let count = 0; count < 25; count++) await guess(console, { name: `name-${count % 5}` })
    const { token } = await createOperator(app.service, { name: 'ben', role: 'act' })
    expect((await console.browser().useLink(token)).status).toBe(303)
  })

  test('forwarded by an untrusted proxy is counted for the address of the proxy', async () => {
    const { console } = await start({ trustedProxies: 0 })
    for (let count = 0; count < 20; count++) {
      expect(await guess(console, { name: `name-${count}`, from: `203.0.113.${count}` })).toBe(403)
    }
    expect(await guess(console, { from: '198.51.100.1' })).toBe(429)
  })
})

describe('a request to the console', () => {
  test('with another Host header is rejected, even if X-Forwarded-Host has the right host', async () => {
    const { console } = await start()
    const ada = console.browser()
    await ada.signIn('ada', password)
    for (const host of ['rebound.example', `127.0.0.1:${console.port}`, 'console.example.com:444', 'example.com']) {
      const forwarded = { 'x-forwarded-host': 'console.example.com', forwarded: 'host=console.example.com' }
      expectRefused(await ada.get('/', { host, ...forwarded }))
      expectRefused(await ada.get('/sign-in', { host, ...forwarded }))
    }
    expect((await ada.get('/', { 'x-forwarded-host': 'rebound.example' })).status).toBe(200)
  })

  test('over plain HTTP is rejected', async () => {
    const { console } = await start()
    const response = await console.browser().get('/sign-in', { 'x-forwarded-proto': 'http' })
    expectRefused(response)
    expect(response.text).toContain(`The console answers over HTTPS only: ${publicUrl}`)
  })

  test.each([
    ['of another site', 'https://evil.example'],
    ['without TLS', 'http://console.example.com'],
    ['of another port', 'https://console.example.com:444'],
    ['that is null', 'null'],
    ['that is missing', undefined],
  ])('with an origin %s can neither sign in nor perform an action', async (_, origin) => {
    const { app, console } = await start()
    const ada = console.browser()
    await ada.signIn('ada', password)
    const { token } = await createOperator(app.service, { name: 'ben', role: 'act' })
    const form = { ...(await ada.form('/rails', 'rail pause', 'sandbox')), reason: 'forged' }
    const forged = [
      ['/sign-in', { name: 'ada', password }],
      ['/link', { token }],
      ['/rails', form],
      ['/end', { _form: '' }],
    ] as const
    const before = await ada.kept()
    for (const [path, fields] of forged) {
      const headers = { ...proxied(), cookie: ada.session(), 'content-type': 'application/x-www-form-urlencoded' }
      const sent = { ...headers, ...(origin !== undefined && { origin }) }
      expectRefused(await ada.ask('POST', path, sent, new URLSearchParams({ ...fields }).toString()))
    }
    expect(await ada.kept()).toEqual(before)
    expect((await console.browser().useLink(token)).status).toBe(303)
  })

  test('from a link on another site opens only the sign-in page, even with a session cookie; other cross-site requests fail', async () => {
    const { console } = await start()
    const ada = console.browser()
    await ada.signIn('ada', password)
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect(await statusOf(ada.get('/sign-in', link))).toBe(200)
    for (const path of ['/', '/merchants', '/nowhere']) expect(await statusOf(ada.get(path, link))).toBe(303)
    for (const mode of ['no-cors', 'cors', 'websocket']) {
      expectRefused(await ada.get('/sign-in', { ...link, 'sec-fetch-mode': mode }))
    }
    const posted = await ada.post('/sign-in', { name: 'ada', password }, { ...link, origin: publicUrl })
    expectRefused(posted)
    // The session of the browser goes on.
    expect(await statusOf(ada.get('/'))).toBe(200)
  })
})

describe('without a session', () => {
  test('every path redirects to the sign-in page, whether it exists or not, and every form is rejected', async () => {
    const { console } = await start()
    const browser = console.browser()
    for (const path of ['/', '/payouts', '/payouts/x', '/merchants', '/nowhere', '/link/x', '/sign-in/x', '/end']) {
      const { status, headers, text } = await browser.get(path)
      expect([path, status, headers.location, text]).toEqual([path, 303, '/sign-in', ''])
      if (path !== '/link/x') expectRefused(await browser.post(path, { _form: 'x', _action: 'x' }))
    }
    expect((await browser.ask('HEAD', '/', proxied())).status).toBe(303)
    expect(await browser.kept()).toHaveLength(1)
  })

  test('a request body that is not a form, or is too long, is rejected', async () => {
    const { console } = await start()
    const browser = console.browser()
    expect((await browser.post('/sign-in', {}, { 'content-type': 'application/json' })).status).toBe(415)
    expect((await browser.post('/sign-in', { name: 'x'.repeat(2_000_000) })).status).toBe(413)
    expect((await browser.ask('POST', '/sign-in', { ...proxied(), origin: publicUrl })).status).toBe(403)
    expect(console.faults).toEqual([])
  })
})

test('every response of a console with operators forbids scripts, caching and framing', async () => {
  const { app, console } = await start()
  const { token } = await createOperator(app.service, { name: 'ben', role: 'act' })
  const ben = console.browser()
  const responses = [
    await ben.get('/'),
    await ben.get('/sign-in'),
    await ben.get(`/link?token=${token}`),
    await ben.get('/link?token=wrong'),
    await ben.signIn('ben', 'a wrong password'),
    await ben.useLink(token),
    await ben.get('/'),
    await ben.get('/nowhere'),
    await ben.get('/', { host: 'rebound.example' }),
  ]
  expect(responses.map(({ status }) => status)).toEqual([303, 200, 200, 403, 403, 303, 200, 404, 403])
  for (const response of responses) expectSecurityHeaders(response)
})

test('an invalid client address from a proxy is shown as `unknown`, and HTML in that address is not shown', async () => {
  const { console } = await start()
  const forged = console.browser(proxied(hostile))
  await forged.signIn('ada', password)
  const ada = console.browser()
  await ada.signIn('ada', password)
  const { text } = await ada.get('/')
  expect(text).toContain('from unknown')
  expect(text).not.toMatch(/<script>|<img/)
})
