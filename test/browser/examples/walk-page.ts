import type { Locator, Page } from 'playwright-core'
import { say, shoot, wrong } from '../browser.ts'
import type { Merchant } from './merchant.ts'
import type { ShakyLine } from './shaky-line.ts'

/** A page of an example, and what happens around it. */
export type Walk = {
  readonly name: string
  readonly page: Page
  readonly merchant: Merchant
  readonly line: ShakyLine
}

/** Does what a customer does on the page, with what can go wrong meanwhile. */
export async function walkPage(walk: Walk): Promise<void> {
  await listsAll(walk)
  await paysAndFollows(walk)
  await isRefused(walk)
  await survivesReload(walk)
  await survivesCut(walk)
}

const rows = (page: Page) => page.getByRole('list', { name: 'Payouts' }).getByRole('listitem')
const inPanel = (page: Page) => page.getByTestId('paid')
const payButton = (page: Page) => page.getByRole('button', { name: /^Pay / })

/** Scrolls down until every payout is there, page by page. */
async function listsAll({ name, page, merchant }: Walk): Promise<void> {
  const { payouts } = await merchant.ada()
  await rows(page).nth(19).waitFor()
  await shoot(page, `${name}-1-list`)
  const counts = [await rows(page).count()]
  while ((counts.at(-1) ?? 0) < payouts) {
    const count = counts.at(-1) ?? 0
    await rows(page).last().scrollIntoViewIfNeeded()
    await page.mouse.wheel(0, 5_000)
    await rows(page).nth(count).waitFor()
    counts.push(await settledCount(rows(page)))
  }
  say(`${name}: lists ${counts.join(', ')} of ${payouts} payouts as it is scrolled`)
  if (counts[0] !== 20 || counts.length < 3 || counts.at(-1) !== payouts)
    wrong(`${name}: lists ${counts} of ${payouts}`)
  await page.evaluate(() => scrollTo(0, 0))
}

/** Rows come in one go: what is counted twice alike is all of them. */
async function settledCount(items: Locator): Promise<number> {
  for (let before = -1; ; ) {
    const count = await items.count()
    if (count === before) return count
    before = count
    await items.page().waitForTimeout(100)
  }
}

async function quote({ page }: Walk): Promise<void> {
  await page.getByRole('button', { name: 'Get a quote' }).click()
  await payButton(page).waitFor()
}

/** Pays from the wallet that it shows to an account that the sandbox's bank pays immediately, and is told of it without asking. */
async function paysAndFollows(walk: Walk): Promise<void> {
  const { name, page, merchant } = walk
  const before = await merchant.ada()
  await quote(walk)
  await page.getByText('39,410.25 NGN').first().waitFor()
  await page.getByRole('definition').getByText('Savings', { exact: true }).waitFor()
  await showsBalance(walk)
  if ((await page.locator('.warning').count()) > 0) wrong(`${name}: the account of its form fails its check`)
  await shoot(page, `${name}-2-quote`)
  // The bank is faster than the answer, which says PROCESSING and must not have the last word.
  await page.route('**/graphql', async (route) => {
    if (!route.request().postData()?.includes('idempotencyKey')) return route.continue()
    const response = await route.fetch()
    await page.waitForTimeout(1_500)
    await route.fulfill({ response })
  })
  await payButton(page).click()
  await inPanel(page).getByText('completed').waitFor()
  await page.unroute('**/graphql')
  await rows(page).first().getByText('completed').waitFor()
  await showsBalance(walk)
  await shoot(page, `${name}-3-paid`)
  const after = await merchant.ada()
  if (after.payouts !== before.payouts + 1) wrong(`${name}: paid ${after.payouts - before.payouts} times`)
  if ((await rows(page).count()) !== after.payouts) wrong(`${name}: shows a payout twice or not at all`)
  say(`${name}: quotes, pays, and shows COMPLETED live`)
}

/** What was covered when it was quoted is covered no more when it is paid. */
async function isRefused(walk: Walk): Promise<void> {
  const { name, page, merchant } = walk
  await quote(walk)
  const ada = await merchant.ada()
  const rest = (Number(ada.balance) * 0.99 - 10).toFixed(2)
  await merchant.pay(ada, rest, 'Somewhere else')
  await showsBalance(walk)
  await payButton(page).click()
  const refusal = await page.getByTestId('refusal').innerText()
  await shoot(page, `${name}-4-refused`)
  const { balance, payouts } = await merchant.ada()
  const available = Number(balance).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 8 })
  if (!refusal.includes(available) || !refusal.includes('26.06375')) wrong(`${name}: the refusal says ${refusal}`)
  if (payouts !== ada.payouts + 1) wrong(`${name}: what was refused was paid`)
  await merchant.deposit(ada, '1000')
  await showsBalance(walk)
  say(`${name}: shows a refusal by its type: ${refusal}`)
}

/** The service pays, and the page is loaded again before it hears of that. */
async function survivesReload(walk: Walk): Promise<void> {
  const { name, page, merchant } = walk
  const before = await merchant.ada()
  await quote(walk)
  const keys: string[] = []
  const reached = Promise.withResolvers<void>()
  await page.route('**/graphql', async (route) => {
    const key = /"idempotencyKey":"([^"]+)"/.exec(route.request().postData() ?? '')?.[1]
    if (key) keys.push(key)
    if (!key || keys.length > 1) return route.continue()
    await route.fetch()
    reached.resolve()
    // And its answer never arrives.
  })
  await payButton(page).click()
  await reached.promise
  const between = await merchant.ada()
  await page.reload()
  await inPanel(page).getByText('completed').waitFor()
  await shoot(page, `${name}-5-reloaded`)
  await page.unroute('**/graphql')
  const after = await merchant.ada()
  const kept = await page.evaluate(() => Object.keys(localStorage).length)
  const told = `sends ${keys.length} times with ${new Set(keys).size} key and pays ${after.payouts - before.payouts} time`
  say(`${name}: loaded again before the answer, it ${told}`)
  const isOnce = between.payouts === before.payouts + 1 && after.payouts === between.payouts && new Set(keys).size === 1
  if (!isOnce || keys.length < 2) wrong(`${name}: ${told}`)
  if (kept !== 0) wrong(`${name}: keeps what was answered`)
}

/** The connection is cut, a bank pays meanwhile, and the page hears of it when it is there again. */
async function survivesCut(walk: Walk): Promise<void> {
  const { name, page, merchant, line } = walk
  const recipient = `Cut off ${name}`
  const payoutId = await merchant.pay(await merchant.ada(), '2', recipient)
  const row = rows(page).filter({ hasText: recipient })
  await row.getByText('processing').waitFor()
  line.cut()
  await merchant.complete(payoutId)
  const resumed = page.waitForRequest((request) => Number(request.headers()['last-event-id']) > 0)
  line.mend()
  await resumed
  await row.getByText('completed').waitFor()
  await shoot(page, `${name}-6-resumed`)
  say(`${name}: goes on behind the last event when its connection was cut`)
}

/** The wallet's card shows what the service says, without being loaded again. */
async function showsBalance({ page, merchant }: Walk): Promise<void> {
  const { balance } = await merchant.ada()
  const shown = Number(balance).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 8 })
  await page.getByTestId('balance').getByText(shown).waitFor()
}
