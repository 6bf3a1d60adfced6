import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { expectNoOverflow, violationsIn } from './appearance.ts'
import type { Merchant } from './examples/merchant.ts'
import { merchantAt } from './examples/merchant.ts'
import type { ShakyLine } from './examples/shaky-line.ts'
import { shakyLineTo } from './examples/shaky-line.ts'
import type { Example } from './examples/start-example.ts'
import { startExample } from './examples/start-example.ts'
import { tryPrograms } from './examples/try-programs.ts'
import { walkPage } from './examples/walk-page.ts'
import { test as base, expect, shoot } from './fixtures.ts'

type TestFixtures = {
  /** A way to the service that can be cut. */
  readonly line: ShakyLine
  /** Starts an example from nothing but its own files, by the commands of its README. */
  readonly startExample: (name: string) => Promise<Example>
}

const test = base.extend<TestFixtures, { merchant: Merchant }>({
  merchant: [
    async ({ service }, use) => {
      const merchant = merchantAt(service.address)
      await makeHistory(merchant)
      await use(merchant)
    },
    { scope: 'worker' },
  ],
  line: async ({ service }, use) => {
    const line = await shakyLineTo(service.address)
    await use(line)
    line.end()
  },
  startExample: async ({ line, page }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-example-'))
    let example: Example | undefined
    await use(async (name) => {
      example = await startExample(name, folder, line.address)
      return example
    })
    await page.close()
    await example?.stop()
    await rm(folder, { recursive: true })
  },
})

// The browser complains about the connections that the test cuts.
test.use({ expectedComplaints: /ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|failed and will be retried/ })
/** Makes more payouts than fit on one page of a list. */
async function makeHistory(merchant: Merchant): Promise<void> {
  const ada = await merchant.ada()
  await merchant.openWallet(ada)
  await merchant.deposit(ada, '1000')
  for (let i = 0; i < 45; i++) {
    const recipient = ['Bola Ade', 'Chike Udo', 'Efe Ola'][i % 3] ?? ''
    const payoutId = await merchant.pay(ada, `${3 + (i % 9)}.25`, recipient)
    if (i % 4 > 0) await merchant.complete(payoutId)
  }
}

// One example is enough for CI; run the others by hand after a change to them.
for (const name of ['apollo', 'urql', 'react-relay'])
  test(`the page of examples/${name} pays once and follows each payout, although requests fail`, {
    tag: name === 'apollo' ? [] : '@manual',
  }, async ({ startExample, page, merchant, line }) => {
    const { address } = await startExample(name)
    const leaks = watchLeaks(page, [address, line.address])
    await page.goto(address)
    await walkPage({ name, page, merchant, line })
    expect.soft(await violationsIn(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    await expectNoOverflow(page)
    await shoot(page, '7-phone')
    expect(leaks).toEqual([])
  })

test('the programs of examples/rest pay once and list all payouts, although a response is lost', {
  tag: '@manual',
}, async ({ startExample, merchant, line }) => {
  await tryPrograms(await startExample('rest'), line, merchant)
})

/** Records requests to other origins, and each API key that the page sends or receives. */
function watchLeaks(page: Page, origins: readonly string[]): readonly string[] {
  const leaks: string[] = []
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== 'data:' && !origins.includes(origin)) leaks.push(`requests ${request.url()}`)
    if (/pgw_/.test(JSON.stringify(request.headers()) + request.postData())) leaks.push('sends an API key')
  })
  page.on('response', async (response) => {
    const isText = /^(text\/(html|javascript|css)|application\/json)/.test(response.headers()['content-type'] ?? '')
    const body = isText ? await response.text().catch(() => '') : ''
    if (body.includes('pgw_')) leaks.push(`receives an API key from ${response.url()}`)
  })
  return leaks
}
