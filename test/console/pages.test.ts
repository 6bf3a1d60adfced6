import { describe, expect, test } from 'vitest'
import { insertRow } from '../../src/database/query.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { eventsAfter } from '../../src/modules/outbox/repository.ts'
import { createBankPayoutMethod } from '../../src/modules/payout-methods/create-payout-method.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { setFee } from '../../src/modules/pricing/fees.ts'
import { pauseSubmissions } from '../../src/modules/rails/orders/rail-routes.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import { createRailPayout } from '../modules/rails/support/rail-payouts.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { foreignScript, openConsole, textOf } from './support/open-console.ts'

const hostile = `<script>alert("x")</script>'"><img src=x onerror=alert(1)>`
const insertDelivery = insertRow('webhookDeliveries')
const insertAttempt = insertRow('webhookAttempts')

/** Returns the path of a link to a part of a list, without the common prefix. */
function wayIn(text: string, name: RegExp, base: string): string | null {
  const links = [...text.matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)]
  const link = links.find(([, , label]) => name.test(String(label)))
  return link ? textOf(String(link[1])).slice(base.length) : null
}

describe.each(everyEngine)('the console pages on %s', (engine) => {
  test('escape all text from merchants and customers', async () => {
    const app = await startApp(engine)
    const context = app.context()
    await app.wallet({ balance: '100' })
    const other = await createMerchant(app.service, { name: hostile })
    const recipient = { ...nigerian, accountNumber: '9999999900', recipientName: hostile, narration: hostile }
    const payout = await perform(createPayout, context, { assetCode: 'USDC', amount: '10', ...recipient })
    const { result } = await createWebhookEndpoint(context, {
      url: 'https://example.com/hooks?a="><script>',
      description: hostile,
    })
    const [event] = (await eventsAfter(app.db, { merchantId: app.merchant.id, after: 0, limit: 100 })).filter(
      ({ objectId }) => objectId === payout.id,
    )
    const key = { merchantId: app.merchant.id, endpointId: result.id, sequence: event?.sequence ?? 0 }
    await app.db.write(
      async (tx) => {
        const createdAt = payout.createdAt
        const delivery = {
          objectId: payout.id,
          status: 'exhausted',
          attempts: 1,
          attemptsBefore: 0,
          createdAt,
        } as const
        await insertDelivery(tx, { ...key, ...delivery, nextAttemptAt: null })
        const answered = { durationMs: 1, status: 500, answer: hostile, error: null }
        await insertAttempt(tx, { ...key, attempt: 1, attemptedAt: createdAt, ...answered })
      },
      { merchantId: app.merchant.id },
    )
    const console = await openConsole(app)
    await console.enter()
    await console.act('/rails', 'rail pause', { reason: hostile }, 'sandbox')

    const shownAt = {
      '/merchants': 1,
      [`/merchants/${other.id}`]: 1,
      [`/payouts?merchant=${app.merchant.id}`]: 1,
      [`/payouts/${payout.id}`]: 3,
      [`/webhooks/${result.id}`]: 2,
      '/log': 1,
    }
    for (const [path, least] of Object.entries(shownAt)) {
      const { status, text } = await console.get(path)
      expect([path, status]).toEqual([path, 200])
      expect(textOf(text).split(hostile).length - 1, path).toBeGreaterThanOrEqual(least)
      expect(text).not.toMatch(foreignScript)
      expect(text).not.toMatch(/<img|onerror=alert\(1\)>(?!&)/)
    }
    // The filter is shown again as well.
    const page = await console.get(`/log?subject=${encodeURIComponent(hostile)}&before=${encodeURIComponent(hostile)}`)
    expect([page.status, foreignScript.test(page.text), page.text.includes('<img')]).toEqual([400, false, false])
    const typed = await console.act('/prices', 'rate set', { fromCode: hostile, toCode: hostile, rate: hostile })
    expect([typed.status, foreignScript.test(typed.text), typed.text.includes('<img')]).toEqual([400, false, false])
    expect(console.faults).toEqual([])
  })

  test('show each row of a paged list once, forwards and backwards', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '1000' })
    const payouts = []
    for (let count = 0; count < 45; count++) payouts.push((await createRailPayout(app.context(), '1')).id)
    const console = await openConsole(app)
    await console.enter()
    const idsIn = (text: string) => [...text.matchAll(/title="([\w-]{36})"/g)].map(([, id]) => String(id))

    const seen: string[][] = []
    let [path, last] = [`/payouts?merchant=${app.merchant.id}&status=PROCESSING` as string | null, '']
    while (path !== null) {
      last = (await console.get(path)).text
      seen.push(idsIn(last))
      path = wayIn(last, /More/, console.entrance.basePath)
    }
    expect(seen.map((ids) => ids.length)).toEqual([20, 20, 5])
    expect(seen.flat()).toEqual(payouts.toReversed())
    const back = await console.get(wayIn(last, /Before/, console.entrance.basePath) ?? '')
    expect(idsIn(back.text)).toEqual(seen[1])
  })

  test('find merchants by any part of a name, including special characters, and list the matches in pages', async () => {
    const app = await startApp(engine)
    for (const name of ['100 % Rent', 'under_score', 'Underscore', 'back\\slash'])
      await createMerchant(app.service, { name })
    for (let count = 0; count < 25; count++) await createMerchant(app.service, { name: `Shop ${count}` })
    const console = await openConsole(app)
    await console.enter()
    const find = async (name: string) => {
      const { text } = await console.get(`/merchants?name=${encodeURIComponent(name)}`)
      return [...text.matchAll(/\/merchants\/[\w-]{36}">([^<]*)</g)].map(([, shown]) => textOf(String(shown)))
    }
    expect(await find('%')).toEqual(['100 % Rent'])
    expect(await find('R_S')).toEqual(['under_score'])
    expect(await find('UNDER')).toEqual(['under_score', 'Underscore'])
    expect(await find('k\\s')).toEqual(['back\\slash'])
    expect(await find('shop')).toHaveLength(20)
    const { text } = await console.get('/merchants?name=shop')
    const more = await console.get(wayIn(text, /More/, console.entrance.basePath) ?? '')
    expect(more.text.match(/>Shop \d+</g)).toHaveLength(5)
    // With several merchants the page shows all of them until one is chosen.
    await app.wallet({ balance: '10' })
    const { id, transactionId } = await createRailPayout(app.context(), '1')
    const page = (await console.get('/payouts')).text
    expect([page.includes(id), page.includes(`<code>${transactionId}</code>`)]).toEqual([true, true])
    expect((await console.get('/webhooks')).text).toContain('There is no webhook endpoint yet.')
  })

  test('return 404 for a missing object, and 400 for an invalid query parameter', async () => {
    const app = await startApp(engine)
    const console = await openConsole(app)
    await console.enter()
    const id = app.service.newId()
    for (const path of [`/payouts/${id}`, '/payouts/x', `/merchants/${id}`, `/wallets/${id}`, `/webhooks/${id}`]) {
      expect([path, (await console.get(path)).status]).toEqual([path, 404])
    }
    for (const path of [
      '/payouts?after=x',
      '/payouts?status=OTHER',
      '/attention?after=x',
      '/log?before=x',
      '/prices/fees?before=x',
    ]) {
      expect([path, (await console.get(path)).status]).toEqual([path, 400])
    }
    expect(console.faults).toEqual([])
  })

  test('show paused rails and missing rates on the overview', async () => {
    const app = await startApp(engine, { rates: [{ fromCode: 'USDC', toCode: 'NGN', rate: '1500' }] })
    await pauseSubmissions(app.service, { rail: 'bank-one' })
    const console = await openConsole(app)
    await console.enter()
    const { text } = await console.get('/')
    expect(text).toContain('Paused: bank-one')
    expect(text).toContain('Every pair in use has a rate')
  })

  test('report a missing rate on the overview only for currency pairs that a fee or a payout method uses', async () => {
    const app = await startApp(engine, { rates: [] })
    const console = await openConsole(app)
    await console.enter()
    const overview = async () =>
      /No rate for [^<]*|No rate is set|Every pair[^<]*/.exec((await console.get('/')).text)?.[0]
    await app.wallet({ assetCode: 'USDT' })
    expect(await overview()).toBe('No rate is set')
    await setFee(app.service, { assetCode: 'USDC', recipientCurrency: 'NGN', flat: '1' })
    expect(await overview()).toBe('No rate for USDC/NGN')
    await perform(createBankPayoutMethod, app.context(), {
      ...{ type: 'BANK', currency: 'ZAR', accountName: 'Ada Obi', accountNumber: '1234567890' },
      ...{ bankName: 'First National Bank', bankCode: '250655' },
    })
    expect(await overview()).toBe('No rate for USDC/NGN, USDT/ZAR')
  })
})
