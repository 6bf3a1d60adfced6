import type { Locator, Page } from '@playwright/test'
import { startConsole } from './console-process.ts'
import { command, pay } from './console-story.ts'
import { test as base, expect } from './fixtures.ts'

/** A Thursday, so that the demo has payouts on the day itself. */
const serviceTime = '2026-11-26T14:00:00Z'
/** After everything that the service recorded. */
const consoleTime = '2026-11-26T14:05:00Z'

const test = base.extend<{ console: Page }>({
  /** The overview of a console over the demo, with one payout in the attention queue and the result of an audit. */
  console: async ({ startService, page }, use) => {
    const service = await startService(clockAt(serviceTime))
    const recipient = { recipientName: 'Amina Sule', narration: 'Invoice 2107' }
    await pay(service, { accountNumber: '9999999934', amount: '145.5', ...recipient })
    await command(service, 'clock', '--by', 'PT2S')
    const { link, stop } = await startConsole(service, clockAt(consoleTime))
    await page.goto(link)
    await showsAll(page)
    await use(page)
    await page.close()
    await stop()
  },
})

/** Waits until the overview counts the payout, and its events were sealed and delivered to the demo's endpoint. */
async function showsAll(page: Page): Promise<void> {
  await expect(async () => {
    await page.reload()
    for (const text of ['Every event is sealed', 'Every event is counted', '100 % of webhooks delivered'])
      await expect(page.getByText(text)).toBeVisible({ timeout: 200 })
  }).toPass()
}

/** Returns the environment of a process whose clock stands still. */
function clockAt(time: string) {
  const { href } = new URL(`./fixed-clock.ts?${time}`, import.meta.url)
  return { NODE_OPTIONS: `--import=${href}` }
}

const desktop = { width: 1280, height: 800 }
const allAppearances = {
  desktop: { viewport: desktop, colorScheme: 'light' },
  'desktop-dark': { viewport: desktop, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  tall: { viewport: { width: 1280, height: 2000 }, colorScheme: 'light' },
} as const
type Appearance = keyof typeof allAppearances

type Picture = {
  readonly name: string
  readonly path: string
  /** Follows a link or a button from the path. */
  readonly follow?: (page: Page) => Promise<void>
  readonly appearances?: readonly Appearance[]
}

const openLink = (name: string) => (page: Page) => opens(page, page.getByRole('link', { name, exact: true }).first())
const openFirstRow = (page: Page) => opens(page, page.locator('tbody a').first())

async function opens(page: Page, link: Locator): Promise<void> {
  const previous = page.url()
  await link.click()
  await page.waitForURL(({ href }) => href !== previous)
}

const pictures: readonly Picture[] = [
  { name: 'books', path: '/books', appearances: ['desktop', 'phone'] },
  { name: 'overview', path: '/', appearances: ['desktop', 'desktop-dark', 'phone', 'tall'] },
  { name: 'search', path: '/search?term=0690000032' },
  { name: 'payouts', path: '/payouts?created-from=2026-11-26', appearances: ['desktop', 'phone'] },
  { name: 'payout', path: '/payouts?status=RETURNED', follow: openFirstRow },
  { name: 'customer', path: '/customers', follow: openLink('Kola Foods Ltd') },
  { name: 'wallet', path: '/wallets', follow: openLink('Operations') },
  { name: 'merchant', path: '/merchants', follow: openLink('Demo merchant') },
  { name: 'rail', path: '/rails/sandbox' },
  { name: 'deliveries', path: '/webhooks/deliveries?created-from=2026-11-26' },
  { name: 'deposits', path: '/deposits?created-from=2026-11-16' },
  { name: 'attention', path: '/attention' },
  { name: 'confirmation', path: '/attention', follow: askToFail },
]

async function askToFail(page: Page): Promise<void> {
  await openFirstRow(page)
  await opens(page, page.getByRole('button', { name: 'It was not paid …' }))
}

/** Ids, the ports of webhook endpoints, and the operator's name differ in every run. */
const changing =
  'code, h1:text-matches("^Payout \\\\w"), a:text-matches("^[A-Z0-9]{10} to "), :text("http://127.0.0.1:"), footer'

test('the pages of the console match their pictures', async ({ console }) => {
  const address = console.url().replace(/\/$/, '')
  await console.goto(`${address}/books`)
  await console.getByRole('button', { name: 'Run the audit' }).click()
  await console.getByText('The books balance.').waitFor()
  for (const { name, path, follow, appearances = ['desktop'] as const } of pictures) {
    await console.goto(`${address}${path}`)
    await follow?.(console)
    for (const appearance of appearances) await expectPicture(console, name, appearance)
  }
})

async function expectPicture(page: Page, name: string, appearance: Appearance): Promise<void> {
  const { viewport, colorScheme } = allAppearances[appearance]
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme })
  const mask = [page.locator(changing)]
  await expect.soft(page).toHaveScreenshot(`${name}-${appearance}.png`, { mask, maskColor: '#8a93a6' })
}
