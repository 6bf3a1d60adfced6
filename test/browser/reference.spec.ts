import type { Page } from '@playwright/test'
import { expect, shoot, test } from './fixtures.ts'

const payouts = '#tag/payouts/POST/api/payouts/banks'

test('the reference requests its script and the OpenAPI document from the service, and nothing else', async ({
  page,
  service,
}) => {
  const paths: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (!['data:', 'blob:'].includes(url.protocol)) paths.push(url.origin === service.address ? url.pathname : url.href)
  })
  await openReference(page)
  expect(new Set(paths)).toEqual(new Set(['/docs', '/docs/scalar.js', '/openapi.json', '/favicon.svg']))
  await expect(page.getByText(/Ask AI|Generate MCP|Deploy|Developer Tools|Generate SDK/)).toHaveCount(0)
  await shoot(page, 'desktop')
})

test('the search of the reference leads to an endpoint', async ({ page, service }) => {
  await openReference(page)
  await page.getByRole('button', { name: 'Open Search' }).click()
  await page.keyboard.type('pay out to a bank')
  await page.getByRole('option', { name: /Pay out to a bank account/ }).click()
  await expect(page).toHaveURL(`${service.address}/docs${payouts}`)
  await expect(heading(page, 'Pay out to a bank account')).toBeInViewport()
})

test('the reference sends a payout to the sandbox, with the key of the demo', async ({ page }) => {
  await openReference(page, payouts)
  await page.getByRole('button', { name: 'Test Request (post /api/payouts/banks)' }).click()
  const sent = page.waitForResponse('**/api/payouts/banks')
  await page.getByRole('button', { name: 'Send post request' }).click()
  expect((await sent).status()).toBe(200)
  await expect(page.getByText('200 OK')).toBeVisible()
  expect((await (await sent).json()).data.status).toBe('PROCESSING')
  await shoot(page, 'try-it')
})

test('the reference shows a request in another programming language', async ({ page }) => {
  await openReference(page, payouts)
  const payout = page.locator('section[id="rest/tag/payouts/POST/api/payouts/banks"]')
  await payout.getByRole('button', { name: 'Change code sample language' }).click()
  await page.getByRole('option', { name: 'Requests', exact: true }).click()
  await expect(payout.getByText('requests.post(')).toBeVisible()
})

test('the URL /docs#sandbox shows the accounts of the sandbox', async ({ page }) => {
  await openReference(page, '#sandbox')
  await expect(heading(page, 'Sandbox')).toBeInViewport()
  await expect(page.getByRole('cell', { name: '9999999900' })).toBeInViewport()
})

test('the reference has an example of each webhook format, and no form to send a request', async ({ page }) => {
  await openReference(page, '#webhook/POST/payout.completed')
  const webhook = page.locator('section[id="rest/webhook/POST/payout.completed"]')
  await expect(webhook.getByText('In the format standard.')).toBeVisible()
  await expect(webhook.getByRole('button', { name: /Test Request/ })).toBeHidden()
})

test('the reference in live mode has no form to send a request, and no API key', async ({ page, startService }) => {
  const { address } = await startService({ MODE: 'live' })
  await openReference(page, payouts, address)
  await expect(heading(page, 'Pay out to a bank account')).toBeInViewport()
  await expect(page.getByRole('button', { name: /Test Request/ })).toHaveCount(0)
  expect(await page.content()).not.toContain('pgw_')
  await shoot(page, 'live')
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })

  test('the reference has a menu, and nothing is cut off', async ({ page }) => {
    await openReference(page)
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(background).toBe('rgb(15, 15, 15)')
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await shoot(page, 'phone')
    await page.getByRole('button', { name: 'Open Menu' }).click()
    await shoot(page, 'phone-menu')
    await page.getByRole('button', { name: 'Open Group - Payouts' }).click()
    await page.getByRole('link', { name: /^Pay out to a bank account/ }).click()
    await expect(heading(page, 'Pay out to a bank account')).toBeInViewport()
  })
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('the reference links to the OpenAPI document', async ({ page }) => {
    await page.goto('/docs')
    await page.getByRole('link', { name: '/openapi.json' }).click()
    await page.waitForURL('/openapi.json')
  })
})

async function openReference(page: Page, hash = '', address = ''): Promise<void> {
  await page.goto(`${address}/docs${hash}`)
  await expect(heading(page, 'payout-gateway')).toBeVisible()
}

function heading(page: Page, name: string) {
  return page.getByRole('heading', { name, exact: true }).first()
}
