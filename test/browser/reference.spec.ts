import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { expect as baseExpect, test } from '@playwright/test'

// Debian's own Chromium. No proxy listens at that address, so a request to another host fails.
test.use({
  viewport: { width: 1280, height: 800 },
  launchOptions: {
    executablePath: '/usr/bin/chromium',
    args: ['--disable-gpu', '--disable-quic', '--proxy-server=127.0.0.1:9', '--proxy-bypass-list=127.0.0.1'],
  },
})
// Limits for what hangs; the machine may be busy.
test.describe.configure({ timeout: 600_000 })
const expect = baseExpect.configure({ timeout: 60_000 })

const payouts = '#tag/payouts/POST/api/payouts/banks'
let folder: string
const services: Record<'sandbox' | 'live', { address: string; stop: () => Promise<void> }> = Object.create(null)

test.beforeAll(async () => {
  test.setTimeout(600_000)
  folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  for (const mode of ['sandbox', 'live'] as const) services[mode] = await startService(mode)
})

test.afterAll(async () => {
  for (const { stop } of Object.values(services)) await stop()
  await rm(folder, { recursive: true })
})

test('the reference requests its script and the OpenAPI document from the service, and nothing else', async ({
  page,
}) => {
  const paths: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (!['data:', 'blob:'].includes(url.protocol))
      paths.push(url.origin === services.sandbox.address ? url.pathname : url.href)
  })
  await openReference(page)
  expect(new Set(paths)).toEqual(new Set(['/docs', '/docs/scalar.js', '/openapi.json', '/favicon.svg']))
  await expect(page.getByText(/Ask AI|Generate MCP|Deploy|Developer Tools|Generate SDK/)).toHaveCount(0)
  await shoot(page, 'desktop')
})

test('the search of the reference leads to an endpoint', async ({ page }) => {
  await openReference(page)
  await page.getByRole('button', { name: 'Open Search' }).click()
  await page.keyboard.type('pay out to a bank')
  await page.getByRole('option', { name: /Pay out to a bank account/ }).click()
  await expect(page).toHaveURL(`${services.sandbox.address}/docs${payouts}`)
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

test('the reference shows a request in another language', async ({ page }) => {
  await openReference(page, payouts)
  const payout = page.locator('section[id="rest/tag/payouts/POST/api/payouts/banks"]')
  await payout.getByRole('button', { name: 'Change code sample language' }).click()
  await page.getByRole('option', { name: 'Requests', exact: true }).click()
  await expect(payout.getByText('requests.post(')).toBeVisible()
})

test('the address /docs#sandbox shows the accounts of the sandbox', async ({ page }) => {
  await openReference(page, '#sandbox')
  await expect(heading(page, 'Sandbox')).toBeInViewport()
  await expect(page.getByRole('cell', { name: '9999999900' })).toBeInViewport()
})

test('the reference names an example of each format of a webhook and offers no request', async ({ page }) => {
  await openReference(page, '#webhook/POST/payout.completed')
  const webhook = page.locator('section[id="rest/webhook/POST/payout.completed"]')
  await expect(webhook.getByText('In the format standard.')).toBeVisible()
  await expect(webhook.getByRole('button', { name: /Test Request/ })).toBeHidden()
})

test('the reference in live offers no request and has no key', async ({ page }) => {
  await openReference(page, payouts, 'live')
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
    await page.goto(`${services.sandbox.address}/docs`)
    await page.getByRole('link', { name: '/openapi.json' }).click()
    await expect(page).toHaveURL(`${services.sandbox.address}/openapi.json`)
  })
})

/** Opens the reference; the test fails for whatever the browser complains of. */
async function openReference(page: Page, hash = '', mode: 'sandbox' | 'live' = 'sandbox'): Promise<void> {
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) expect.soft(message.text()).toBe('')
  })
  page.on('pageerror', (error) => expect.soft(error.message).toBe(''))
  await page.goto(`${services[mode].address}/docs${hash}`)
  await expect(heading(page, 'payout-gateway')).toBeVisible({ timeout: 180_000 })
}

function heading(page: Page, name: string) {
  return page.getByRole('heading', { name, exact: true }).first()
}

/** Takes a screenshot into the folder that SCREENSHOTS names. */
async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) })
}

/** Starts the service as `npm start` does, on a free port and a new database. */
async function startService(mode: 'sandbox' | 'live') {
  const env = {
    PATH: process.env.PATH ?? '',
    PORT: '0',
    MODE: mode,
    DATABASE_URL: `sqlite:${join(folder, `${mode}.sqlite`)}`,
  }
  if (mode === 'live') spawnSync(process.execPath, ['src/cli.js', 'migrate'], { env, stdio: 'inherit' })
  const child = spawn(process.execPath, ['src/main.js'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const address = await new Promise<string>((resolve, reject) => {
    let greeting = ''
    child.stderr.on('data', (chunk) => {
      greeting += chunk
      const found = /http:\/\/[\d.]+:\d+/.exec(greeting)
      if (found) resolve(found[0])
    })
    child.once('close', () => reject(new Error(`the service exited: ${greeting}`)))
  })
  return {
    address,
    stop: () => {
      child.kill('SIGTERM')
      return closed
    },
  }
}
