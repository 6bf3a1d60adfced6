import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import type { Visit } from './browser.ts'
import { say, shoot, visit, wrong } from './browser.ts'
import type { Merchant } from './examples/merchant.ts'
import { merchantAt } from './examples/merchant.ts'
import { shakyLineTo } from './examples/shaky-line.ts'
import { startExample } from './examples/start-example.ts'
import { tryPrograms } from './examples/try-programs.ts'
import { walkPage } from './examples/walk-page.ts'

// Runs the examples for front ends from nothing but their own files, by the commands of their READMEs, in a real browser:
//   npm run examples [-- [--screenshots <folder>] <example> …]
// It prints what it saw, and its exit code is 1 when anything was wrong or there is no chromium.

const pages = ['apollo', 'urql', 'react-relay']
const named = process.argv.slice(2).filter((argument) => [...pages, 'rest'].includes(argument))
const isAsked = (name: string) => named.length === 0 || named.includes(name)

const pictures = await mkdtemp(join(tmpdir(), 'payout-gateway-examples-'))
await visit(async (visiting) => {
  const merchant = merchantAt(visiting.service.address)
  await makeHistory(merchant)
  for (const name of pages.filter(isAsked)) await tryPage(visiting, name, merchant)
  if (isAsked('rest')) await tryRest(visiting, merchant)
  say(`screenshots: ${pictures}`)
}, pictures)

/** So many payouts that a list of them has several pages. */
async function makeHistory(merchant: Merchant): Promise<void> {
  const ada = await merchant.ada()
  await merchant.openWallet(ada)
  await merchant.deposit(ada, '1000')
  for (let made = 0; made < 45; made++) {
    const payoutId = await merchant.pay(
      ada,
      `${3 + (made % 9)}.25`,
      ['Bola Ade', 'Chike Udo', 'Efe Ola'][made % 3] ?? '',
    )
    if (made % 4 > 0) await merchant.complete(payoutId)
  }
}

/** The programs of a server, at a service that they reach by a line that can be cut. */
async function tryRest({ service }: Visit, merchant: Merchant): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-example-'))
  const line = await shakyLineTo(service.address)
  const example = await startExample('rest', folder, line.address)
  try {
    await tryPrograms(example, line, merchant)
  } catch (error) {
    wrong(`rest stops: ${(error as Error).message}`)
  } finally {
    await example.end()
    line.end()
    await rm(folder, { recursive: true })
  }
}

/** Has an example's page walked through, at a service that it reaches by a line that can be cut, from another origin. */
async function tryPage({ browser, service }: Visit, name: string, merchant: Merchant): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-example-'))
  const line = await shakyLineTo(service.address)
  const begun = performance.now()
  const example = await startExample(name, folder, line.address)
  say(`${name}: from its files to its page in ${Math.round((performance.now() - begun) / 1000)} s`)
  const page = await browser.newPage()
  try {
    watch(page, name, [example.address, line.address])
    await page.goto(example.address)
    await walkPage({ name, page, merchant, line })
    await fits(page, name)
  } catch (error) {
    wrong(`${name} stops: ${(error as Error).message}`)
    await shoot(page, `${name}-stopped`)
  } finally {
    await page.close()
    await example.end()
    line.end()
    await rm(folder, { recursive: true })
  }
}

/** Reports what goes wrong in a page, what it asks of others, and an API key that it ever sends or gets. */
function watch(page: Page, name: string, origins: readonly string[]): void {
  page.on('pageerror', (error) => wrong(`${name}: the page fails: ${error.message}`))
  page.on('console', (message) => {
    const isOfCut = /ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|stream ended/.test(message.text())
    if (['error', 'warning'].includes(message.type()) && !isOfCut) wrong(`${name}: the console says: ${message.text()}`)
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== 'data:' && !origins.includes(origin)) wrong(`${name}: asks ${request.url()}`)
    if (/pgw_/.test(JSON.stringify(request.headers()) + request.postData())) wrong(`${name}: sends an API key`)
  })
  page.on('response', async (response) => {
    const isText = /^(text\/(html|javascript|css)|application\/json)/.test(response.headers()['content-type'] ?? '')
    const body = isText ? await response.text().catch(() => '') : ''
    if (body.includes('pgw_')) wrong(`${name}: gets an API key from ${response.url()}`)
  })
}

/** Nothing is cut on a phone, and everyone can use it. */
async function fits(page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  for (const { id, nodes } of violations) wrong(`${name}: axe finds ${id} at ${nodes.map(({ target }) => target)}`)
  await page.setViewportSize({ width: 390, height: 844 })
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  if (over > 0) wrong(`${name}: on a phone it is cut by ${over} pixels`)
  await shoot(page, `${name}-7-phone`)
}
