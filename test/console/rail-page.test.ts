import { describe, expect, test } from 'vitest'
import { sealAll } from '../modules/hash-chain/support/tamperings.ts'
import { createContradictedPayout, createRailPayout, makeDueCall } from '../modules/rails/support/rail-payouts.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { openConsole, textOf } from './support/open-console.ts'
import { openOperatorConsole } from './support/open-operator-console.ts'

const hostile = `<script>alert("x")</script>`
const cellsOf = (text: string) =>
  [...text.matchAll(/<tr role="row">(<td.*?)<\/tr>/g)].map(([, row]) =>
    [...String(row).matchAll(/<div>(.*?)<\/div>/g)].map(([, cell]) =>
      textOf(String(cell).replace(/<[^>]*>/g, '')).trim(),
    ),
  )

describe.each(everyEngine)('the page of a rail on %s', (engine) => {
  test('shows its orders by state, the time to completion, and the latest errors', async () => {
    const app = await startApp(engine)
    const context = app.context()
    await app.wallet({ balance: '1000' })
    const [completed, rejected, unknown] = [
      (await createRailPayout(context)).id,
      (await createRailPayout(context)).id,
      (await createRailPayout(context)).id,
    ]
    await createRailPayout(context)
    await makeDueCall(context, completed, { state: 'COMPLETED', reference: 'B-1' })
    await makeDueCall(context, rejected, { state: 'REJECTED', code: hostile })
    await makeDueCall(context, unknown, { failure: 'no answer' })
    await createContradictedPayout(context, 'REJECTED', 'COMPLETED')
    const console = await openConsole(app)
    await console.enter()
    const { status, text } = await console.get('/rails/sandbox')
    expect([status, /<script>/.test(text)]).toEqual([200, false])
    const rows = cellsOf(text)
    expect(rows).toContainEqual(['· QUEUED', '1', '1'])
    expect(rows).toContainEqual(['! UNKNOWN', '1', '1'])
    expect(rows).toContainEqual(['✓ COMPLETED', '–', '1'])
    expect(rows).toContainEqual(['! ATTENTION', '1', '1'])
    expect(rows.filter((cells) => cells.at(-1) === hostile)).toHaveLength(1)
    expect(rows.some((cells) => cells.at(-1) === 'the bank reports COMPLETED for an order that was REJECTED')).toBe(
      true,
    )
    expect(text).toMatch(/<dt>Median time to completion<\/dt><dd>\d+ ms<\/dd>/)
    expect((await console.get('/rails')).text).toContain('/rails/sandbox"><strong>sandbox</strong>')
    expect((await console.get('/')).text).toContain('/rails/sandbox"')
    for (const unknownRail of ['/rails/none', `/rails/${encodeURIComponent(hostile)}`]) {
      const page = await console.get(unknownRail)
      expect([page.status, /<script>/.test(page.text)]).toEqual([404, false])
    }
    expect(console.faults).toEqual([])
  })

  test('can pause and resume the rail, unless the operator has the role `look`', async () => {
    const app = await startApp(engine)
    const console = await openOperatorConsole(app)
    const [operator, viewer] = [await console.operator('ada', 'act'), await console.operator('eve', 'look')]
    const paused = await operator.act('/rails/sandbox', 'rail pause', {}, 'sandbox')
    expect([paused.status, String(paused.headers.location)]).toEqual([
      303,
      expect.stringMatching(/^\/rails\/sandbox\?done=/),
    ])
    expect((await operator.get('/rails/sandbox')).text).toContain('paused</span>')
    const { text } = await viewer.get('/rails/sandbox')
    expect([text.includes('paused</span>'), text.includes('_action" value="rail')]).toEqual([true, false])
    await operator.act('/rails/sandbox', 'rail resume', {}, 'sandbox')
    expect((await viewer.get('/rails/sandbox')).text).toContain('running</span>')
    expect(console.faults).toEqual([])
  })
})

describe.each(everyEngine)('the page of a merchant on %s', (engine) => {
  test('shows the volumes of the merchant’s payouts, and links to the merchant’s lists', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '1000' })
    await createRailPayout(app.context(), '12.5')
    const other = await app.otherMerchant()
    await sealAll(app.service)
    const console = await openConsole(app)
    await console.enter()
    const { text } = await console.get(`/merchants/${app.merchant.id}`)
    const [row] = cellsOf(text)
    expect(row?.slice(0, 5)).toEqual(['USDC to NGN', '12.50', '1', '12.50', '1'])
    for (const list of ['/payouts', '/deposits', '/webhooks/deliveries'])
      expect(text).toContain(`${list}?merchant=${app.merchant.id}"`)
    expect((await console.get(`/merchants/${other.id}`)).text).toContain('It has no payout in the last 30 days')
    expect(console.faults).toEqual([])
  })
})
