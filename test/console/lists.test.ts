import { describe, expect, test } from 'vitest'
import { seedLoadData } from '../../src/demo/load/seed.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { createBankPayoutMethod } from '../../src/modules/payout-methods/create-payout-method.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { createContext } from '../../src/operations/context.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import type { App } from '../support/app.ts'
import { everyEngine, sampleCustomer, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { foreignScript, openConsole, textOf } from './support/open-console.ts'
import { openOperatorConsole } from './support/open-operator-console.ts'

const hostile = `=cmd|'/c calc'!A1,"<script>alert(1)</script>`

/** Two merchants: the first has a customer with a payout of each status and a payout method, the second a customer. */
async function startTwoMerchants(engine: (typeof everyEngine)[number]) {
  const app = await startApp(engine)
  const context = app.context()
  const customer = await perform(createCustomer, context, { ...sampleCustomer, firstName: 'Ada', lastName: 'Obi' })
  const wallet = await app.wallet({ balance: '5000', customerId: customer.id })
  const recipient = { ...nigerian, recipientName: hostile }
  const create = (amount: string) =>
    perform(createPayout, context, {
      assetCode: 'USDC',
      amount,
      walletId: wallet,
      customerId: customer.id,
      ...recipient,
    })
  const [processing, completed, failed] = [await create('1234.5'), await create('2'), await create('3')]
  await settlePayout(context, { payoutId: completed.id, status: 'COMPLETED' })
  await settlePayout(context, { payoutId: failed.id, status: 'FAILED' })
  const other = await createMerchant(app.service, { name: 'Other merchant' })
  const stranger = await perform(createCustomer, createContext(app.service, other.id), {
    ...sampleCustomer,
    firstName: 'Bola',
  })
  return { app, customer, wallet, processing, completed, failed, other, stranger }
}

/** Returns the link texts of the first column. */
const firstCells = (text: string) =>
  [...text.matchAll(/<tr role="row"><td[^>]*><div>.*?(?:title="([\w-]{36})")/g)].map(([, id]) => String(id))

describe.each(everyEngine)('the lists of the console on %s', (engine) => {
  test('show the payouts of all merchants by default, with names and grouped amounts, and can be filtered', async () => {
    const { app, customer, wallet, processing, completed, failed, other } = await startTwoMerchants(engine)
    const console = await openConsole(app)
    await console.enter()
    const { text } = await console.get('/payouts')
    expect(firstCells(text)).toEqual([failed.id, completed.id, processing.id])
    expect(text).toContain('1,234.50 USDC')
    expect(text).toContain('>Ada Obi</a>')
    expect(text).toContain('3 payouts')
    expect(text).toMatch(/<time datetime="[^"]+" title="[^"]+ UTC">just now<\/time>/)
    const shown = async (query: string) => firstCells((await console.get(`/payouts?${query}`)).text)
    expect(await shown('status=COMPLETED')).toEqual([completed.id])
    expect(await shown('asset=USDT')).toEqual([])
    expect(await shown('currency=NGN&status=FAILED')).toEqual([failed.id])
    expect(await shown(`customer=${customer.id}`)).toHaveLength(3)
    expect(await shown(`merchant=${app.merchant.id}&wallet=${wallet}`)).toHaveLength(3)
    expect(await shown(`merchant=${other.id}`)).toEqual([])
    expect(await shown('created-before=2020-01-01')).toEqual([])
    expect(await shown('created-from=2020-01-01')).toHaveLength(3)
    expect((await console.get(`/payouts?merchant=${other.id}`)).text).toContain('No payout matches these filters.')
    const invalid = await console.get('/payouts?status=DONE')
    expect([invalid.status, textOf(invalid.text).includes('Status must be one of')]).toEqual([400, true])
    expect(console.faults).toEqual([])
  })

  test('count at most 1,000 rows that match a filter, and show the total of all payouts', async () => {
    const app = await startApp(engine)
    const sizes = { merchants: 1, customers: 1, methods: 0, wallets: 2, seed: 1 }
    const [merchant] = await seedLoadData(app.service, { ...sizes, payouts: 2_200 })
    const context = createContext(app.service, merchant?.id ?? '')
    const [wallet] = (await wallets.slice(context, { owner: 'any', first: 1 })).items
    const console = await openConsole(app)
    await console.enter()
    for (const query of ['', `merchant=${merchant?.id}&`]) {
      expect((await console.get(`/payouts?${query}`)).text).toContain('<span>2,200 payouts</span>')
      expect((await console.get(`/payouts?${query}status=COMPLETED`)).text).toContain(
        '<span>more than 1,000 payouts</span>',
      )
      expect((await console.get(`/payouts?${query}status=FAILED`)).text).toMatch(/<span>\d\d payouts<\/span>/)
    }
    const { text } = await console.get(`/customers/${wallet?.customerId}`)
    expect(text).toMatch(
      />\d+ processing<\/a> · <a[^>]*>4\d\d completed<\/a> · <a[^>]*>\d\d failed<\/a> <span class="faint">of the newest 500<\/span>/,
    )
    expect(console.faults).toEqual([])
  })

  test('show the customers, wallets and payout methods of all merchants, or only those that match a filter', async () => {
    const { app, customer, stranger, wallet, other } = await startTwoMerchants(engine)
    const { result: method } = await createBankPayoutMethod(app.context(), {
      ...{
        currency: 'NGN',
        accountName: 'Ada Obi',
        accountNumber: '0690000032',
        bankName: 'Access Bank',
        bankCode: '044',
      },
      customerId: customer.id,
    })
    const console = await openConsole(app)
    await console.enter()
    expect(firstCells((await console.get('/customers')).text)).toEqual([stranger.id, customer.id])
    expect(firstCells((await console.get(`/customers?merchant=${other.id}`)).text)).toEqual([stranger.id])
    expect(firstCells((await console.get(`/customers?type=business`)).text)).toEqual([])
    expect(firstCells((await console.get(`/wallets?customer=${customer.id}`)).text)).toEqual([wallet])
    expect(firstCells((await console.get(`/wallets?merchant=${other.id}`)).text)).toEqual([])
    expect((await console.get('/payout-methods?type=BANK')).text).toContain('<code>0690000032</code>')
    expect((await console.get('/payout-methods?type=WALLET')).text).not.toContain('0690000032')
    expect(method.customerId).toBe(customer.id)

    const { status, text } = await console.get(`/customers/${customer.id}`)
    expect([status, textOf(text).includes('Ada Obi')]).toEqual([200, true])
    for (const shown of ['0690000032', '1,234.50 USDC', '>1 completed</a>', '>1 failed</a>', sampleCustomer.email])
      expect(textOf(text)).toContain(shown)
    expect(text).not.toMatch(foreignScript)
    const unknown = await console.get(`/customers/${app.merchant.id}`)
    expect(unknown.status).toBe(404)
    expect(console.faults).toEqual([])
  })

  test('show the webhook endpoints of all merchants or of one merchant, as a page and as a CSV file', async () => {
    const { app, other } = await startTwoMerchants(engine)
    const create = async (merchantId: string, url: string) =>
      (await createWebhookEndpoint(createContext(app.service, merchantId), { url, description: hostile })).result.id
    const own = await create(app.merchant.id, 'https://example.com/own?"><script>')
    const foreign = await create(other.id, 'https://example.com/foreign')
    const console = await openConsole(app)
    await console.enter()
    const { text } = await console.get('/webhooks')
    expect([firstCells(text).toSorted(), foreignScript.test(text)]).toEqual([[own, foreign].toSorted(), false])
    expect(text).toContain('>Other merchant</a>')
    expect(firstCells((await console.get(`/webhooks?merchant=${other.id}`)).text)).toEqual([foreign])
    expect(firstCells((await console.get('/webhooks?created-before=2020-01-01')).text)).toEqual([])
    const file = await console.get(`/webhooks?format=csv&merchant=${app.merchant.id}`)
    expect([file.status, file.text.includes(own), file.text.includes(foreign)]).toEqual([200, true, false])
    expect(file.text).toContain(`"'=cmd|`)
    expect(file.text).not.toMatch(/whsec_|secret/i)
    expect(console.faults).toEqual([])
  })

  test('can be downloaded as CSV with all matching rows, in which formulas are escaped', async () => {
    const { app, processing, completed } = await startTwoMerchants(engine)
    const console = await openConsole(app)
    await console.enter()
    const { headers, text } = await console.get('/payouts?format=csv&status=PROCESSING')
    expect([headers['content-type'], headers['content-disposition']]).toEqual([
      'text/csv; charset=utf-8; header=present',
      'attachment; filename="payouts.csv"',
    ])
    const [head, row, end] = text.split('\r\n')
    expect(head).toMatch(/^id,transactionId,status,createdAt,assetCode,amount,/)
    expect(row).toContain(`${processing.id},${processing.transactionId},PROCESSING,`)
    expect(row).toContain(`1234.50000000`)
    expect(row).toContain(`"'=cmd|'/c calc'!A1,""<script>alert(1)</script>"`)
    expect(end).toBe('')
    expect(text).not.toContain(completed.id)
    for (const path of ['/customers', '/wallets', '/payout-methods'])
      expect([path, (await console.get(`${path}?format=csv`)).status]).toEqual([path, 200])

    await createPayouts(app, 130)
    for (const merchant of ['', app.merchant.id]) {
      const all = await console.get(`/payouts?format=csv&merchant=${merchant}`)
      const ids = all.text
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0])
      expect([merchant, ids.length, new Set(ids).size]).toEqual([merchant, 133, 133])
    }
    const invalid = await console.get('/payouts?format=csv&status=DONE')
    expect([invalid.status, invalid.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
    expect(console.faults).toEqual([])
  })

  test('are available to operators with the role `look`, as pages and as CSV files', async () => {
    const { app, customer } = await startTwoMerchants(engine)
    const console = await openOperatorConsole(app)
    const operator = await console.operator('eve', 'look')
    for (const path of ['/payouts', '/customers', `/customers/${customer.id}`, '/wallets', '/payouts?format=csv'])
      expect([path, (await operator.get(path)).status]).toEqual([path, 200])
    expect((await console.browser().get('/payouts?format=csv')).text).not.toContain('USDC')
    expect(console.faults).toEqual([])
  })

  test('that are empty explain how to create the first item', async () => {
    const console = await openConsole(await startApp(engine))
    await console.enter()
    for (const [path, hint] of [
      ['/payouts', 'POST /api/payouts/banks'],
      ['/customers', 'createCustomer'],
      ['/deposits', 'deposit &lt;wallet id&gt;'],
      ['/wallets', 'POST /api/wallets'],
      ['/payout-methods', 'POST /api/payout/methods/banks'],
      ['/webhooks', 'POST /api/webhooks'],
      ['/webhooks/deliveries', 'from its first attempt'],
    ] as const)
      expect((await console.get(path)).text).toContain(hint)
  })
})

async function createPayouts(app: App, count: number): Promise<void> {
  await app.wallet({ balance: '1000' })
  for (let made = 0; made < count; made++)
    await perform(createPayout, app.context(), { assetCode: 'USDC', amount: '1', ...nigerian })
}
