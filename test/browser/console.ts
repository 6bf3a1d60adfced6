import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, Page } from 'playwright-core'
import type { Service, Visit } from './browser.ts'
import { openPage, say, shoot, visit, wrong } from './browser.ts'
import { command, hostile, tell } from './console-story.ts'

// Looks at every page of the console in a real browser, on a desk and on a phone, in light and in dark, and does what an
// operator does, with scripts and without:
//   npm run browser:console [-- --screenshots <folder>]
// axe finds nothing, nothing is cut, what others have written stays text, and what is done is kept with its reason.

const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

type Story = Awaited<ReturnType<typeof tell>>

await visit(async (visiting) => {
  const { service } = visiting
  const story = await tell(service)
  try {
    const payoutId = await inAttention(service)
    const { page, strangers } = await openPage(visiting, (complaint) => /status of 40[0-9]/.test(complaint))
    const opened = await openConsole(service)
    await page.goto(opened.link)
    const base = page.url().replace(/\/$/, '')
    await failing(page, base, story)
    for (const [name, path] of pagesOf(story, payoutId)) await lookAt(page, name, `${base}${path}`)
    await acts(page, base, { story, payoutId })
    await moves(page, base)
    await isClosedToOthers(visiting, opened.link, base)
    await opened.close()
    await worksWithoutScripts(visiting)
    const others = strangers.filter((url) => !url.startsWith(new URL(base).origin))
    if (others.length > 0) wrong(`requests to other hosts: ${others.join(', ')}`)
  } finally {
    story.close()
  }
})

function pagesOf(
  { demoId, merchantId, webhookId, walletId }: Story,
  payoutId: string,
): readonly (readonly [string, string])[] {
  return [
    ['overview', '/'],
    ['payouts-unchosen', '/payouts'],
    ['payouts', `/payouts?merchant=${demoId}`],
    ['payout', `/payouts/${payoutId}`],
    ['attention', '/attention'],
    ['merchants', '/merchants'],
    ['merchant', `/merchants/${demoId}`],
    ['merchant-hostile', `/merchants/${merchantId}`],
    ['wallet', `/wallets/${walletId}`],
    ['webhooks', `/webhooks?merchant=${demoId}`],
    ['webhook', `/webhooks/${webhookId}`],
    ['rails', '/rails'],
    ['prices', '/prices'],
    ['rates', '/prices/rates'],
    ['fees', '/prices/fees'],
    ['books', '/books'],
    ['log', '/log'],
    ['not-there', '/payouts/nothing'],
  ]
}

/** Starts a console as an operator does; its link. */
async function openConsole(service: Service) {
  const child = spawn(process.execPath, ['src/app/cli.ts', 'console', '--json'], {
    env: service.environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const link = await new Promise<string>((resolve) => {
    child.stdout.once('data', (line) => resolve((JSON.parse(String(line)) as { link: string }).link))
  })
  return {
    link,
    close: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}

/** The payout of which the bank has said two things, once it has. */
async function inAttention(service: Service): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const { payouts } = (await command(service, 'attention', 'list')) as { payouts: { payoutId: string }[] }
    if (payouts[0]) return payouts[0].payoutId
    await delay(200)
  }
  throw new Error('no payout came to attention')
}

/** Waits until the endpoint that takes nothing was tried. */
async function failing(page: Page, base: string, { webhookId }: Story): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    await page.goto(`${base}/webhooks/${webhookId}`)
    if (await page.getByText('answered with 500').first().isVisible()) return
    await delay(200)
  }
  throw new Error('nothing was sent to the endpoint')
}

async function lookAt(page: Page, name: string, url?: string): Promise<void> {
  for (const [size, colorScheme] of [
    ['desk', 'light'],
    ['phone', 'dark'],
  ] as const) {
    await page.setViewportSize(sizes[size])
    await page.emulateMedia({ colorScheme })
    if (url) await page.goto(url)
    const found = await new AxeBuilder({ page }).analyze()
    for (const { id, nodes } of found.violations)
      for (const { target } of nodes) wrong(`${name}, ${size}, ${colorScheme}: ${id} at ${target.join(' ')}`)
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (excess > 0) wrong(`${name}, ${size}: ${excess} pixels are cut`)
    if (!(await page.title()).endsWith('payout-gateway console')) wrong(`${name}: somebody has changed the title`)
    if ((await page.locator('main script, main img').count()) > 0) wrong(`${name}: what others wrote became HTML`)
    say(`${name}, ${size}, ${colorScheme}: axe finds ${found.violations.map(({ id }) => id).join(', ') || 'nothing'}`)
    await shoot(page, `console-${name}-${size}-${colorScheme}`, { fullPage: true })
  }
  await page.setViewportSize(sizes.desk)
}

/** Fills in the form behind a summary and sends it. */
async function act(page: Page, title: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const form = page.locator('details', { has: page.locator('summary', { hasText: new RegExp(`^${title}$`) }) }).first()
  if ((await form.getAttribute('open')) === null) await form.locator('summary').click()
  for (const [label, text] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(text)
  await form.getByRole('button', { name: title, exact: true }).click()
}

type Subject = { readonly story: Story; readonly payoutId: string }

async function acts(page: Page, base: string, { story, payoutId }: Subject): Promise<void> {
  await page.goto(`${base}/payouts/${payoutId}`)
  await act(page, 'It was not paid', { Reason: '' })
  await expectText(page, 'Reason must not be empty')
  await lookAt(page, 'refused')
  await act(page, 'It was not paid', { Reason: `the bank says so ${hostile}` })
  await expectText(page, 'Done: attention fail.')
  await lookAt(page, 'payout-done')

  await page.goto(`${base}/merchants/${story.merchantId}`)
  await act(page, 'Create a key', { Reason: 'for the new back office' })
  await expectText(page, 'API key, shown this once')
  await lookAt(page, 'key-shown')

  await page.goto(`${base}/prices`)
  await act(page, 'Set a rate', { From: 'USDC', To: 'NGN', Rate: '9000', Reason: 'as the market says' })
  await expectText(page, 'differs by')
  await lookAt(page, 'rate-refused')

  await page.goto(`${base}/webhooks/${story.webhookId}`)
  await act(page, 'Send again', { Reason: 'it was repaired' })
  await expectText(page, 'Done: webhook replay.')

  await page.goto(`${base}/books`)
  await page.getByRole('button', { name: 'Run the audit' }).click()
  await expectText(page, 'The books balance.')
  await lookAt(page, 'audited')
  await lookAt(page, 'log-after', `${base}/log`)
  say('an operator decides, makes a key, is refused a rate, sends an event again and runs the audit')
}

async function expectText(page: Page, text: string): Promise<void> {
  try {
    await page.getByText(text).first().waitFor({ timeout: 10_000 })
  } catch {
    wrong(`${page.url()} does not say “${text}”`)
  }
}

/** By keyboard alone: to the content, and into a form. */
async function moves(page: Page, base: string): Promise<void> {
  await page.goto(`${base}/rails`)
  await page.keyboard.press('Tab')
  await shoot(page, 'console-skip-link')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const isOpen = await page.locator('details[open] input[name=reason]').first().isVisible()
  if (!isOpen) wrong('the keyboard does not open the first form after the skip link')
  else say('the keyboard reaches the content and opens a form')
}

/** Another browser has no use of the link, nor of an address. */
async function isClosedToOthers({ browser }: Visit, link: string, base: string): Promise<void> {
  const other = await browser.browser()?.newContext()
  if (!other) return wrong('there is no other browser')
  const page = await other.newPage()
  for (const url of [link, `${base}/`, `${base}/merchants`]) {
    const answer = await page.goto(url)
    if (answer?.status() !== 403) wrong(`another browser gets ${answer?.status()} at ${url}`)
  }
  await shoot(page, 'console-closed')
  await other.close()
  say('another browser is not let in')
}

async function worksWithoutScripts({ browser, service }: Visit): Promise<void> {
  const plain: BrowserContext | undefined = await browser.browser()?.newContext({ javaScriptEnabled: false })
  if (!plain) return wrong('there is no browser without scripts')
  const opened = await openConsole(service)
  const page = await plain.newPage()
  await page.goto(opened.link)
  const base = page.url().replace(/\/$/, '')
  await page.goto(`${base}/rails`)
  await act(page, 'Pause', { Reason: 'maintenance at the bank' })
  await expectText(page, 'Done: rail pause.')
  await act(page, 'Resume', { Reason: 'it is over' })
  await expectText(page, 'Done: rail resume.')
  await page.goto(`${base}/payouts`)
  await page.getByLabel('Merchant').selectOption({ index: 1 })
  await page.getByRole('button', { name: 'Show' }).click()
  await page.locator('tbody a').first().click()
  await expectText(page, 'Timeline')
  await page.getByRole('button', { name: 'End the session' }).click()
  await expectText(page, 'The session is over')
  await plain.close()
  await opened.close()
  say('all of it works without scripts')
}
