import { describe, expect, test } from 'vitest'
import { timestamp } from '../../src/core/ids-and-clock.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { recordAttempts } from '../../src/modules/webhooks/dispatcher/record-attempts.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { nodeRail } from '../modules/deposits/support/node.ts'
import { sealAll } from '../modules/hash-chain/support/tamperings.ts'
import { createRailPayout, makeDueCall } from '../modules/rails/support/rail-payouts.ts'
import type { App } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { tamperWith } from '../support/stored.ts'
import { foreignScript, openConsole } from './support/open-console.ts'

const startMs = Date.parse('2026-03-10T12:00:00.000Z')
const dayMs = 86_400_000

/** Pays twice on a day, and once on the next: completed after a minute, failed, in progress. */
async function startPaidApp(engine: (typeof everyEngine)[number]) {
  let nowMs = startMs
  const app = await startApp(engine, { clock: () => nowMs })
  await app.fee('0.5')
  await app.wallet({ balance: '100000' })
  const pay = async (amount: string) => {
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, amount },
      headers: { 'idempotency-key': `pay ${amount}` },
    })
    return body.data.id as string
  }
  const [completed, failed] = [await pay('1234.5'), await pay('2000')]
  nowMs += 60_000
  await settlePayout(app.context(), { payoutId: completed, status: 'COMPLETED', override: true })
  await settlePayout(app.context(), { payoutId: failed, status: 'FAILED', override: true })
  nowMs = startMs + dayMs
  await pay('10')
  const setTime = (ms: number): void => {
    nowMs = ms
  }
  return { ...app, setTime }
}

async function overviewOf(app: App): Promise<string> {
  const console = await openConsole(app)
  await console.enter()
  const { text, status } = await console.get('/')
  expect([status, console.faults]).toEqual([200, []])
  return text
}

/** The cells of the table of currencies, by rows. */
function rowsOf(text: string): string[][] {
  const [, table = ''] = /<caption>Payouts by currency<\/caption>([\s\S]*?)<\/table>/.exec(text) ?? []
  return [...table.matchAll(/<tr role="row"><td[\s\S]*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<div>([\s\S]*?)<\/div>/g)].map(([, cell]) => String(cell).replace(/<[^>]*>/g, '')),
  )
}

/** The name, value and detail of each card. */
function cardsOf(text: string): string[][] {
  const [, list = ''] = /<ul class="cards">([\s\S]*?)<\/ul>/.exec(text) ?? []
  return [...list.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, card]) =>
    [...String(card).matchAll(/<(a|strong|p)\b[^>]*>([\s\S]*?)<\/\1>/g)].map(([, , part]) =>
      String(part).replace(/<[^>]*>/g, ''),
    ),
  )
}

/** The day and the figure of each row of a chart's table, the latest first. */
function figuresOfChart(text: string, id: string): string[][] {
  const [, table = ''] = new RegExp(`<title id="${id}-title">[\\s\\S]*?<tbody([\\s\\S]*?)</tbody>`).exec(text) ?? []
  return [...table.matchAll(/<tr[\s\S]*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<div>([\s\S]*?)<\/div>/g)].map(([, cell]) => String(cell).replace(/<[^>]*>/g, '')),
  )
}

describe.each(everyEngine)('the overview on %s', (engine) => {
  test('begins with the figures of the last 30 days and their change from the preceding 30 days', async () => {
    const app = await startPaidApp(engine)
    await sealAll(app.service)
    expect(cardsOf(await overviewOf(app))).toEqual([
      ['USDC volume', '3,244.50', '10.00 today'],
      ['Payouts', '3', '1 today'],
      ['Success rate', '50.0 %', '1 failed, 0 returned'],
      ['Median time', '53 seconds', '95 % within 53 seconds'],
    ])

    app.setTime(startMs + 30 * dayMs)
    // The first day is now in the period before.
    expect(cardsOf(await overviewOf(app))).toEqual([
      ['USDC volume', '10.00', '0.00 today · −100 %'],
      ['Payouts', '1', '0 today · −50 %'],
      ['Success rate', '–', '0 failed, 0 returned'],
      ['Median time', '–', '95 % within –'],
    ])

    // The period before begins with the day of the first payouts, and then after it.
    for (const [days, volume, change] of [
      [59, '1.00', '−100 %'],
      [60, '2.00', '−80 %'],
    ] as const) {
      app.setTime(startMs + days * dayMs)
      const headers = { 'idempotency-key': `pay on day ${days}` }
      await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' }, headers })
      await sealAll(app.service)
      expect(cardsOf(await overviewOf(app))[0]).toEqual(['USDC volume', volume, `1.00 today · ${change}`])
    }
  })

  test('shows figures for today and for the last 30 days by currency and corridor, with links to the payouts', async () => {
    const app = await startPaidApp(engine)
    await sealAll(app.service)

    const text = await overviewOf(app)

    const figures = ['10.00', '1', '3,244.50', '3', '50.0 %', '53 seconds', '53 seconds', '1.50']
    expect(rowsOf(text)).toEqual([
      ['USDC', ...figures],
      ['to NGN', ...figures],
    ])
    expect(text).toContain('/payouts?asset=USDC"')
    expect(text).toContain('/payouts?status=FAILED"')
    expect(text).toContain('Every event is counted.')
  })

  test('has charts with a title, a description and their figures as a table, and no inline style or script', async () => {
    const app = await startPaidApp(engine)
    await sealAll(app.service)

    const text = await overviewOf(app)

    for (const id of ['outcomes', 'volume', 'held-usdc']) {
      expect(text).toContain(`role="img" aria-labelledby="${id}-title ${id}-description"`)
      expect(text).toMatch(new RegExp(`<title id="${id}-title">.+</title><desc id="${id}-description">.+</desc>`))
    }
    expect(text).toContain('1 completed, 1 failed, 0 returned.')
    expect(text).toMatch(/<caption>Payouts by outcome<\/caption>[\s\S]*2026-03-10[\s\S]*<\/table>/)
    expect(text).toContain('<title>10 Mar: 1 failed</title>')
    expect(text).not.toMatch(foreignScript)
    expect(text).not.toContain(' style="')
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(ids.length).toBe(new Set(ids).size)
  })

  test('shows the number of events that the figures do not include yet', async () => {
    const app = await startPaidApp(engine)
    expect(await overviewOf(app)).toMatch(/\d+ events not counted yet/)
    await sealAll(app.service)
    await app.customer()
    expect(await overviewOf(app)).toContain('1 event not counted yet.')
  })

  test('shows the money in wallets, the rail orders of the last day, and how many webhooks were delivered', async () => {
    let nowMs = startMs
    const app = await startApp(engine, { clock: () => nowMs, rails: [nodeRail] })
    const context = app.context()
    await app.wallet({ balance: '1000' })
    await app.wallet({ balance: '0.5', assetCode: 'EUR' })
    expect(await overviewOf(app)).toContain('No order was created in the last 24 hours.')
    await createRailPayout(context)
    nowMs += dayMs + 1
    for (const state of ['COMPLETED', 'COMPLETED', 'REJECTED'] as const)
      await makeDueCall(context, (await createRailPayout(context)).id, { state })
    await createRailPayout(context)
    await sealAll(app.service)

    const text = await overviewOf(app)
    const [, orders = ''] =
      /<caption>Orders of the last 24 hours by rail<\/caption>([\s\S]*?)<\/table>/.exec(text) ?? []
    const cells = [...orders.matchAll(/<div>([\s\S]*?)<\/div>/g)].map(([, cell]) =>
      String(cell).replace(/<[^>]*>/g, ''),
    )
    expect(cells).toEqual(['sandbox', '4', '2', '1', '–', '–', '–', '1', '66.7 %'])
    // Of five payouts of 10, one was not paid.
    expect(text).toMatch(/currency=USDC">USDC<\/a><strong><span class="money">960\.00</)
    expect(text).toMatch(/currency=EUR">EUR<\/a><strong><span class="money">0\.50</)
    expect(text).toContain('No webhook was sent yet')

    const { id } = (await createWebhookEndpoint(context, { url: 'https://example.com/hooks' })).result
    const attempt = { durationMs: 3, answer: null, error: null, nextAttemptAt: null, attemptsInSchedule: 0 }
    const times = { happenedAt: timestamp(nowMs), attemptedAt: timestamp(nowMs), storedAttempts: null }
    await recordAttempts(context, {
      endpointId: id,
      attempted: [
        { ...attempt, ...times, sequence: 1, objectId: id, status: 200, outcome: 'delivered' },
        { ...attempt, ...times, sequence: 2, objectId: id, status: 500, outcome: 'exhausted' },
      ],
      waiting: [],
      cursor: { from: 0, to: 0 },
      isGone: false,
    })
    const after = await overviewOf(app)
    expect(after).toContain('50.0 % of webhooks delivered')
    expect(after).toContain('of the latest 2, 0 after a retry')
  })

  test('draws the money in wallets at the end of each day for each currency, with exact figures and links', async () => {
    const app = await startPaidApp(engine)
    await app.wallet({ balance: '0.5', assetCode: 'EUR' })
    await app.wallet({ assetCode: 'USDT' })
    expect(await overviewOf(app)).not.toContain('held-usdc')
    await sealAll(app.service)

    const text = await overviewOf(app)

    // Deposits of 100,000, a payout of 1,234.50 with its fee, one of 2,000 that failed, and on the next day one of 10.
    expect(figuresOfChart(text, 'held-usdc').slice(0, 3)).toEqual([
      ['2026-03-11', '98,754.50'],
      ['2026-03-10', '98,765.00'],
      ['2026-03-09', '0.00'],
    ])
    expect(figuresOfChart(text, 'held-eur')).toHaveLength(30)
    expect(text).toContain(
      'The USDC in all wallets at the end of each of the last 30 days: 0 on the first day, 98.8k now.',
    )
    expect(text.indexOf('id="held-usdc-title"')).toBeLessThan(text.indexOf('id="held-eur-title"'))
    expect(text).toMatch(/<figcaption><strong>EUR held in wallets<\/strong>.*\/wallets\?currency=EUR"/)
    // No wallet held USDT.
    expect(text).not.toContain('held-usdt')

    app.setTime(startMs + 40 * dayMs)
    expect(figuresOfChart(await overviewOf(app), 'held-usdc')[29]).toEqual(['2026-03-21', '98,754.50'])
  })

  test('omits the money in wallets until all events before the latest seal have been counted', async () => {
    const app = await startPaidApp(engine)
    await sealAll(app.service)
    await tamperWith(app, 'update statistics_cursors set through = 0')
    app.service.db.refresh()

    const text = await overviewOf(app)
    expect(text).not.toContain('held-usdc')
    expect(text).toMatch(
      /Held in wallets <small class="faint">now, of all merchants, without \d+ events not counted yet</,
    )
  })

  test('of an installation without payouts explains the first steps', async () => {
    const app = await startApp(engine)
    const text = await overviewOf(app)
    expect(text).toContain('No payouts in the last 30 days')
    expect(text).toContain('/prices"')
    expect(text).toMatch(/No <a href="[^"]+\/wallets">wallet<\/a> held money in the last 30 days\./)
    expect(text).not.toContain('<figure')
  })
})
