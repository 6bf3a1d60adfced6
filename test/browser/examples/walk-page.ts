import type { Page } from '@playwright/test'
import { expect, shoot, test } from '../fixtures.ts'
import type { Merchant } from './merchant.ts'
import type { ShakyLine } from './shaky-line.ts'

/** A page of an example and its surroundings. */
export type Walk = {
  readonly name: string
  readonly page: Page
  readonly merchant: Merchant
  readonly line: ShakyLine
}

/** Does what a customer does on the page, while the bank, the balance and the connection change. */
export async function walkPage(walk: Walk): Promise<void> {
  await test.step('lists all payouts', () => listsAll(walk))
  await test.step('quotes, pays and follows the payout', () => paysAndFollows(walk))
  await test.step('shows a refusal', () => showsRefusal(walk))
  await test.step('pays once across a reload', () => survivesReload(walk))
  await test.step('resumes its stream after a cut', () => survivesCut(walk))
}

const rows = (page: Page) => page.getByRole('list', { name: 'Payouts' }).getByRole('listitem')
const inPanel = (page: Page) => page.getByTestId('paid')
const payButton = (page: Page) => page.getByRole('button', { name: /^Pay / })

/** Scrolls down until every payout is there, page by page. */
async function listsAll({ page, merchant }: Walk): Promise<void> {
  const { payouts } = await merchant.ada()
  const cursors = new Set<string>()
  page.on('request', (request) => {
    const cursor = /"after":"([^"]+)"/.exec(request.postData() ?? '')?.[1]
    if (cursor) cursors.add(cursor)
  })
  await rows(page).nth(19).waitFor()
  await shoot(page, '1-list')
  expect.soft(await rows(page).count()).toBe(20)
  for (let count = 20; count < payouts; count = await rows(page).count()) {
    await rows(page).last().scrollIntoViewIfNeeded()
    await page.mouse.wheel(0, 5_000)
    await rows(page).nth(count).waitFor()
  }
  await expect.soft(rows(page)).toHaveCount(payouts)
  expect.soft(cursors.size, 'further pages').toBeGreaterThanOrEqual(2)
  await page.evaluate(() => scrollTo(0, 0))
}

async function quote({ page }: Walk): Promise<void> {
  await page.getByRole('button', { name: 'Get a quote' }).click()
  await payButton(page).waitFor()
}

/** Pays from the wallet on the page to an account that the sandbox's bank pays immediately. */
async function paysAndFollows(walk: Walk): Promise<void> {
  const { page, merchant } = walk
  const before = await merchant.ada()
  await quote(walk)
  await page.getByText('39,410.25 NGN').first().waitFor()
  await page.getByRole('definition').getByText('Savings', { exact: true }).waitFor()
  await showsBalance(walk)
  await expect.soft(page.locator('.warning')).toHaveCount(0)
  await shoot(page, '2-quote')
  // The bank is faster than the response, which says PROCESSING and must not replace the newer status.
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
  await shoot(page, '3-paid')
  const after = await merchant.ada()
  expect.soft(after.payouts).toBe(before.payouts + 1)
  expect.soft(await rows(page).count()).toBe(after.payouts)
}

/** Spends the balance elsewhere between the quote and the payment. */
async function showsRefusal(walk: Walk): Promise<void> {
  const { page, merchant } = walk
  await quote(walk)
  const ada = await merchant.ada()
  const rest = (Number(ada.balance) * 0.99 - 10).toFixed(2)
  await merchant.pay(ada, rest, 'Somewhere else')
  await showsBalance(walk)
  await payButton(page).click()
  const refusal = page.getByTestId('refusal')
  await refusal.waitFor()
  await shoot(page, '4-refused')
  const { balance, payouts } = await merchant.ada()
  await expect.soft(refusal).toContainText(format(balance))
  await expect.soft(refusal).toContainText('26.06375')
  expect.soft(payouts).toBe(ada.payouts + 1)
  await merchant.deposit(ada, '1000')
  await showsBalance(walk)
}

/** Reloads the page after the service has paid and before the response. */
async function survivesReload(walk: Walk): Promise<void> {
  const { page, merchant } = walk
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
    // The response never reaches the page.
  })
  await payButton(page).click()
  await reached.promise
  const between = await merchant.ada()
  await page.reload()
  await inPanel(page).getByText('completed').waitFor()
  await shoot(page, '5-reloaded')
  await page.unroute('**/graphql')
  const after = await merchant.ada()
  expect.soft(between.payouts).toBe(before.payouts + 1)
  expect.soft(after.payouts).toBe(between.payouts)
  expect.soft(keys.length).toBeGreaterThanOrEqual(2)
  expect.soft(new Set(keys).size).toBe(1)
  expect.soft(await page.evaluate(() => Object.keys(localStorage)), 'what the page keeps').toEqual([])
}

/** Cuts the connection, has the bank pay, and expects that the page resumes behind its last event. */
async function survivesCut({ name, page, merchant, line }: Walk): Promise<void> {
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
  await shoot(page, '6-resumed')
}

/** Expects the service's balance on the wallet's card, without a reload. */
async function showsBalance({ page, merchant }: Walk): Promise<void> {
  const { balance } = await merchant.ada()
  await page.getByTestId('balance').getByText(format(balance)).waitFor()
}

function format(amount: string): string {
  return Number(amount).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 8 })
}
