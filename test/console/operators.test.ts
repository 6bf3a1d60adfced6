import { describe, expect, test } from 'vitest'
import { listOperatorActions } from '../../src/modules/operators/list-operator-actions.ts'
import { createOperatorLink, removeOperator, setOperatorRole } from '../../src/modules/operators/manage-operators.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { createRailPayout } from '../modules/rails/support/rail-payouts.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { readStoredRows } from '../support/stored.ts'
import type { ConsoleResponse } from './support/open-console.ts'
import { openOperatorConsole } from './support/open-operator-console.ts'

const minute = 60_000
const password = 'a long enough password'

/** Opens a console with a fake clock. */
async function start(engine: Engine) {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  const console = await openOperatorConsole(app)
  return {
    app,
    console,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

type Browser = Awaited<ReturnType<Awaited<ReturnType<typeof start>>['console']['operator']>>

async function expectSignedIn(browser: Browser): Promise<ConsoleResponse> {
  const page = await browser.get('/')
  expect([page.status, page.text.includes('<h1>Overview</h1>')]).toEqual([200, true])
  return page
}

/** Asserts that a page leads to the sign-in, and reveals nothing. */
async function expectSignedOut(browser: Browser): Promise<void> {
  const { status, headers, text } = await browser.get('/merchants')
  expect([status, headers.location, text]).toEqual([303, '/sign-in', ''])
}

/** Every page of the console, for an installation with one of everything. */
async function everyPage(app: Awaited<ReturnType<typeof start>>['app']): Promise<string[]> {
  const walletId = await app.wallet({ balance: '100' })
  const { id: payoutId } = await createRailPayout(app.context())
  const { id } = (await createWebhookEndpoint(app.context(), { url: 'https://example.com/hooks' })).result
  return [
    ...['/', '/payouts', `/payouts/${payoutId}`, '/attention', '/merchants', `/merchants/${app.merchant.id}`],
    ...[`/wallets/${walletId}`, '/webhooks', `/webhooks/${id}`, '/rails', '/prices', '/prices/rates', '/prices/fees'],
    ...['/books', '/log'],
  ]
}

/** The forms of a page that send something, as their fields. */
function formsOf({ text }: ConsoleResponse): Record<string, string>[] {
  const forms = [...text.matchAll(/<form method="post".*?<\/form>/gs)].map(([form]) => form)
  return forms.map((form) =>
    Object.fromEntries([...form.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])),
  )
}

describe.each(everyEngine)('an operator of the console on %s', (engine) => {
  test('sets a password with a one-time link, signs in with the password, and sees the time of the last sign-in', async () => {
    const { app, console, pass } = await start(engine)
    const ada = await console.operator('ada', 'act', password)
    expect((await expectSignedIn(ada)).text).toContain('first sign-in')

    pass(minute)
    const elsewhere = console.browser()
    const entered = await elsewhere.signIn(' ADA ', password)
    expect([entered.status, entered.headers.location]).toEqual([303, '/'])
    const { text } = await expectSignedIn(elsewhere)
    expect(text).toContain('<strong>ada</strong> may act')
    expect(text).toContain(
      'last sign-in <time datetime="2026-03-01T12:00:00.000Z">2026-03-01 12:00:00</time> from 203.0.113.7',
    )

    const details = { address: '203.0.113.7' }
    const signIn = { action: 'console sign-in', subject: 'ada', reason: null, details }
    expect(await elsewhere.kept()).toEqual([signIn, signIn])
    expect(console.log).toMatchObject([
      { operator: 'ada', role: 'act', address: '203.0.113.7', message: 'operator signed in to the console' },
      { operator: 'ada', role: 'act', address: '203.0.113.7', message: 'operator signed in to the console' },
    ])
    const stored = JSON.stringify(await readStoredRows(app))
    for (const secret of [password, ada.session().split('=')[1]]) expect(stored).not.toContain(secret)
  })

  test('appears in the operator log with the actions that the operator performed', async () => {
    const { app, console } = await start(engine)
    const [ada, ben] = [await console.operator('ada'), await console.operator('ben')]
    expect((await ada.act('/rails', 'rail pause', {}, 'sandbox')).status).toBe(303)
    expect((await ben.act('/rails', 'rail resume', {}, 'sandbox')).status).toBe(303)
    const { items } = await listOperatorActions(app.service, { limit: 100 })
    const logged = items.map(({ action, operator, session }) => ({ action, operator, session })).reverse()
    expect(logged).toEqual([
      { action: 'console sign-in', operator: 'ada', session: expect.stringMatching(/^remote console [0-9a-f]{8}$/) },
      { action: 'console sign-in', operator: 'ben', session: expect.stringMatching(/^remote console [0-9a-f]{8}$/) },
      { action: 'rail pause', operator: 'ada', session: logged[0]?.session },
      { action: 'rail resume', operator: 'ben', session: logged[1]?.session },
    ])
  })

  test('who has the role `look` can open every page, and sees no forms', async () => {
    const { app, console } = await start(engine)
    const [ada, ben] = [await console.operator('ada'), await console.operator('ben', 'look')]
    for (const path of await everyPage(app)) {
      const [page, own] = [await ben.get(path), await ada.get(path)]
      expect([path, page.status]).toEqual([path, 200])
      expect([path, formsOf(page).length]).toEqual([path, 1])
      expect(page.text).not.toMatch(/<h2>Actions|Actions<\/th>|data-label="Actions"|class="action"/)
      expect(page.text).toContain('<strong>ben</strong> may look')
      expect(page.text).toContain('<button>Sign out</button>')
      expect(page.text).not.toContain('Your actions are logged')
      expect(own.status).toBe(200)
    }
    expect(console.faults).toEqual([])
  })

  test('who has the role `look` cannot perform any action, even by posting another operator’s form', async () => {
    const { app, console } = await start(engine)
    const [ada, ben] = [await console.operator('ada'), await console.operator('ben', 'look')]
    const sent: string[] = []
    const paths = await everyPage(app)
    const before = await readStoredRows(app)
    for (const path of paths) {
      const [, ...forms] = formsOf(await ada.get(path))
      for (const fields of [{}, ...forms]) {
        const response = await ben.post(path, { ...fields, reason: 'because I can' })
        expect([path, fields, response.status]).toEqual([path, fields, 403])
        expect(response.text).toContain('Your role is look')
        sent.push(path)
      }
    }
    expect(sent.length).toBeGreaterThan(paths.length + 10)
    expect(await readStoredRows(app)).toEqual(before)
    await expectSignedIn(ben)
    // The audit, which only reads, is an action here, because it takes long.
    expect((await ben.get('/books')).text).toContain('This console has not run it yet.')
  })

  test('is signed out when removed or given another role or password, and other operators stay signed in', async () => {
    const { app, console } = await start(engine)
    const ben = await console.operator('ben')
    const removed = await console.operator('ada')
    await removeOperator(app.service, { name: 'ada' })
    await expectSignedOut(removed)

    // A new operator of the same name is another one.
    const again = await console.operator('ada')
    await expectSignedOut(removed)
    await expectSignedIn(again)

    await setOperatorRole(app.service, { name: 'ada', role: 'look' })
    await expectSignedOut(again)

    const byLink = console.browser()
    await byLink.useLink((await createOperatorLink(app.service, { name: 'ada' })).token)
    expect((await expectSignedIn(byLink)).text).toContain('<strong>ada</strong> may look')
    const withPassword = console.browser()
    await withPassword.useLink((await createOperatorLink(app.service, { name: 'ada' })).token, password)
    await expectSignedOut(byLink)
    await expectSignedIn(withPassword)
    await expectSignedIn(ben)
  })

  test('cannot submit a form that was opened before the role changed', async () => {
    const { app, console } = await start(engine)
    const ada = await console.operator('ada')
    const form = { ...(await ada.form('/rails', 'rail pause', 'sandbox')), reason: 'at the last moment' }
    await setOperatorRole(app.service, { name: 'ada', role: 'look' })
    const before = await readStoredRows(app)
    const response = await ada.post('/rails', form)
    expect([response.status, response.text.includes('nothing was done')]).toEqual([403, true])
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('can use a link only once, even if the link is sent several times concurrently', async () => {
    const { app, console } = await start(engine)
    await console.operator('ada')
    const { token } = await createOperatorLink(app.service, { name: 'ada' })
    const responses = await Promise.all([1, 2, 3, 4].map(() => console.browser().useLink(token, password)))
    expect(responses.map(({ status }) => status).toSorted()).toEqual([303, 403, 403, 403])
    const late = await console.browser().useLink(token)
    expect([late.status, late.text.includes('used already')]).toEqual([403, true])
    expect(console.faults).toEqual([])
  })

  test('cannot use a link that is an hour old, that was replaced by a newer link, or whose operator was removed', async () => {
    const { app, console, pass } = await start(engine)
    await console.operator('ada')
    const links = async () => (await createOperatorLink(app.service, { name: 'ada' })).token
    const refused = async (token: string) => {
      const browser = console.browser()
      const responses = [await browser.get(`/link?token=${token}`), await browser.useLink(token)]
      for (const { status, headers, text } of responses) {
        expect([status, headers['set-cookie'], text.includes('used already')]).toEqual([403, undefined, true])
      }
    }
    const expired = await links()
    pass(60 * minute)
    await refused(expired)
    const [replaced, last] = [await links(), await links()]
    await refused(replaced)
    await removeOperator(app.service, { name: 'ada' })
    await refused(last)
    await refused('guessed')
    await refused('')
  })

  test('can use a link that a link preview opened before, and can enter another password if the first one is too short', async () => {
    const { app, console } = await start(engine)
    await console.operator('ada')
    const { token } = await createOperatorLink(app.service, { name: 'ada' })
    const browser = console.browser()
    for (let times = 0; times < 3; times++) {
      const page = await browser.get(`/link?token=${token}`)
      expect([page.status, page.text.includes('<h1>Sign in as ada</h1>')]).toEqual([200, true])
    }
    const before = await readStoredRows(app)
    for (const short of ['x', 'fourteen chars', 'x'.repeat(257)]) {
      const refused = await browser.post('/link', { token, name: 'ada', password: short })
      expect([refused.status, refused.text.includes('The password must have 15 to 256 characters')]).toEqual([
        400,
        true,
      ])
      expect(refused.text).not.toContain(short === 'x' ? 'value="x"' : short)
    }
    expect(await readStoredRows(app)).toEqual(before)
    expect((await browser.useLink(token, 'fifteen chars..')).status).toBe(303)
  })
})
