import type { Page } from '@playwright/test'
import { expectUsable } from './appearance.ts'
import { startConsole } from './console-process.ts'
import type { Story } from './console-story.ts'
import { hostile, makeStory } from './console-story.ts'
import { test as base, expect, shoot } from './fixtures.ts'

const test = base.extend<{ link: string; console: Page }, { story: Story }>({
  story: [
    async ({ service }, use) => {
      const story = await makeStory(service)
      await use(story)
      story.close()
    },
    { scope: 'worker' },
  ],
  /** The link that the command prints; it works once. */
  link: async ({ service }, use) => {
    const { link, stop } = await startConsole(service)
    await use(link)
    await stop()
  },
  /** The overview of a console that an operator has opened. */
  console: async ({ link, page }, use) => {
    await page.goto(link)
    await use(page)
    // The console waits for connections that are open.
    await page.close()
  },
})

// The browser complains about pages that are missing or forbidden, and about forms that the console rejects.
test.use({ expectedComplaints: /status of (404 .*\/nothing\)|40[0-35-9])/ })

test('every page of the console is accessible, is not cut off, and escapes text from others', async ({
  console,
  story,
}) => {
  const base = addressOf(console)
  await showsFailedDelivery(console, `${base}/webhooks/${story.webhookId}`)
  for (const [name, path] of pagesOf(story)) await expectInOrder(console, name, `${base}${path}`)
})

function pagesOf({ demoId, merchantId, customerId, webhookId, walletId, payoutId }: Story) {
  return [
    ['overview', '/'],
    ['payouts-unchosen', '/payouts'],
    ['payouts', `/payouts?merchant=${demoId}`],
    ['payout', `/payouts/${payoutId}`],
    ['deposits', '/deposits'],
    ['attention', '/attention'],
    ['merchants', '/merchants'],
    ['merchant', `/merchants/${demoId}`],
    ['customers', '/customers'],
    ['customer', `/customers/${customerId}`],
    ['wallets', '/wallets'],
    ['payout-methods', '/payout-methods'],
    ['merchant-hostile', `/merchants/${merchantId}`],
    ['wallet', `/wallets/${walletId}`],
    ['webhooks', `/webhooks?merchant=${demoId}`],
    ['webhook', `/webhooks/${webhookId}`],
    ['deliveries', '/webhooks/deliveries'],
    ['rails', '/rails'],
    ['rail', '/rails/sandbox'],
    ['filter-errors', '/payouts?amount-from=10&wallet=x'],
    ['prices', '/prices'],
    ['rates', '/prices/rates'],
    ['fees', '/prices/fees'],
    ['books', '/books'],
    ['log', '/log'],
    ['not-there', '/payouts/nothing'],
  ] as const
}

test('an operator fails a payout, creates an API key, gets an error for a rate, replays a webhook and runs the audit', async ({
  console,
  story,
}) => {
  const base = addressOf(console)
  await console.goto(`${base}/payouts/${story.payoutId}`)
  await askFor(console, 'It was not paid')
  await expectInOrder(console, 'confirmation')
  await act(console, 'It was not paid', { Reason: '' })
  await expectText(console, 'Reason must not be empty')
  await expectInOrder(console, 'refused')
  await act(console, 'It was not paid', { Reason: `the bank says so ${hostile}` })
  await expectText(console, 'Done: attention fail.')
  await expectInOrder(console, 'payout-done')

  await console.goto(`${base}/merchants/${story.merchantId}`)
  await act(console, 'Create a key', { Reason: 'for the new back office' })
  await expectText(console, 'API key, shown this once')
  await expectInOrder(console, 'key-shown')

  await console.goto(`${base}/prices`)
  await act(console, 'Set a rate', { From: 'USDC', To: 'NGN', Rate: '9000', Reason: 'as the market says' })
  await expectText(console, /differs by [+-]/)
  await expectInOrder(console, 'rate-refused')

  await showsFailedDelivery(console, `${base}/webhooks/${story.webhookId}`)
  await act(console, 'Send again', { Reason: 'it was repaired' })
  await expectText(console, 'Done: webhook replay.')

  await console.goto(`${base}/books`)
  await console.getByRole('button', { name: 'Run the audit' }).click()
  await expectText(console, 'The books balance.')
  await expectInOrder(console, 'audited')
  await expectInOrder(console, 'log-after', `${base}/log`)
})

test('the keyboard alone is enough to skip to the content of the console and to open a form', async ({ console }) => {
  await console.goto(`${addressOf(console)}/rails/sandbox`)
  await console.keyboard.press('Tab')
  await shoot(console, 'skip-link')
  await console.keyboard.press('Enter')
  await console.keyboard.press('Tab')
  await console.keyboard.press('Enter')
  await expect(console.locator('details[open] input[name=reason]').first()).toBeVisible()
})

test('the key / focuses the search field unless another field has the focus, and ids can be copied', async ({
  console,
  context,
  story,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await console.goto(`${addressOf(console)}/payouts/${story.payoutId}`)
  const search = console.getByRole('searchbox')
  await console.keyboard.press('/')
  await expect(search).toBeFocused()
  await console.keyboard.type('a/b')
  await expect(search).toHaveValue('a/b')

  await console.getByRole('button', { name: 'Copy the id' }).click()
  await expect(console.getByRole('button', { name: 'Copy the id' })).toHaveText('Copied')
  expect(await console.evaluate(() => navigator.clipboard.readText())).toBe(story.payoutId)
})

test('another browser can open neither the console link nor the URLs of console pages', async ({
  link,
  console,
  browser,
}) => {
  const base = addressOf(console)
  const other = await browser.newContext()
  const page = await other.newPage()
  for (const url of [link, `${base}/`, `${base}/merchants`]) {
    const response = await page.goto(url)
    expect.soft(response?.status(), url).toBe(403)
  }
  await shoot(page, 'closed')
  await other.close()
})

test.describe('without scripts', () => {
  // The console ends with the session. The browser may request the icon of the last page only then.
  test.use({ javaScriptEnabled: false, expectedComplaints: /ERR_CONNECTION_REFUSED .*\/favicon\.svg/ })

  test('an operator pauses a rail, finds a payout and ends the session', async ({ console }) => {
    const base = addressOf(console)
    await console.goto(`${base}/rails`)
    await act(console, 'Pause', { Reason: 'maintenance at the bank' })
    await expectText(console, 'Done: rail pause.')
    await act(console, 'Resume', { Reason: 'it is over' })
    await expectText(console, 'Done: rail resume.')
    await console.goto(`${base}/payouts`)
    await console.getByLabel('Merchant').selectOption({ index: 1 })
    await console.getByRole('button', { name: 'Show' }).click()
    await console.locator('tbody a').first().click()
    await expectText(console, 'Timeline')
    await askFor(console, 'Settle by hand')
    await act(console, 'Settle by hand', { Outcome: 'COMPLETED', Reason: 'the bank rang' })
    await expectText(console, 'Done: payout settle.')
    await console.getByRole('button', { name: 'End the session' }).click()
    await expectText(console, 'The session is over')
  })
})

function addressOf(overview: Page): string {
  return overview.url().replace(/\/$/, '')
}

/** Opens the page of a webhook endpoint, again until it shows that an attempt failed. */
async function showsFailedDelivery(page: Page, url: string): Promise<void> {
  await expect(async () => {
    await page.goto(url)
    await expect(page.getByText('answered with 500').first()).toBeVisible({ timeout: 200 })
  }).toPass({ timeout: 60_000 })
}

/** Expects a page that is accessible and whole, and that no text from others became HTML. */
async function expectInOrder(page: Page, name: string, url?: string): Promise<void> {
  await expectUsable(page, name, { fullPage: true, ...(url && { load: () => page.goto(url) }) })
  await expect.soft(page, `the title of ${name}`).toHaveTitle(/payout-gateway console$/)
  await expect.soft(page.locator('main script, main img'), `HTML from others in ${name}`).toHaveCount(0)
}

/** Opens the page that confirms an action, from its button. */
async function askFor(page: Page, title: string): Promise<void> {
  await page
    .getByRole('button', { name: `${title} …`, exact: true })
    .first()
    .click()
  await expectText(page, 'Back, and change nothing')
}

/** Fills in the form behind a summary, or on the page that confirms an action, and sends it. */
async function act(page: Page, title: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const confirmation = page.locator('.confirmation')
  const isConfirmation = (await confirmation.count()) > 0
  const summary = page.locator('summary', { hasText: new RegExp(`^${title}$`) })
  const form = isConfirmation ? confirmation : page.locator('details', { has: summary }).first()
  if (!isConfirmation && (await form.getAttribute('open')) === null) await form.locator('summary').click()
  for (const [label, text] of Object.entries(fields)) {
    const field = form.getByLabel(label, { exact: true })
    const isSelect = (await field.evaluate(({ tagName }) => tagName)) === 'SELECT'
    await (isSelect ? field.selectOption(text) : field.fill(text))
  }
  await form.getByRole('button', { name: title, exact: true }).click()
}

async function expectText(page: Page, text: string | RegExp): Promise<void> {
  await expect.soft(page.getByText(text).first()).toBeVisible()
}
