import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import { freePort } from '../support/free-port.ts'
import { expectUsable } from './appearance.ts'
import { test as base, expect } from './fixtures.ts'
import type { Service } from './service.ts'

const run = promisify(execFile)
const password = 'a long enough password'

type OperatorConsole = {
  readonly url: string
  readonly createOperator: (name: string, role: string) => Promise<string>
}

const test = base.extend<object, { console: OperatorConsole }>({
  /** A service with a console for named operators. */
  console: [
    async ({ startService }, use) => {
      const port = await freePort()
      const service = await startService({ CONSOLE_PORT: String(port) })
      const url = `http://127.0.0.1:${port}`
      // The console starts after the service.
      await expect(async () => expect((await fetch(`${url}/sign-in`)).status).toBe(200)).toPass()
      await use({ url, createOperator: (name, role) => createOperator(service, name, role) })
    },
    { scope: 'worker' },
  ],
})

// The browser complains about rejected sign-ins itself.
test.use({ expectedComplaints: /status of 4\d\d/ })

/** Returns the link of a new operator. */
async function createOperator(service: Service, name: string, role: string): Promise<string> {
  const args = ['src/cli/cli.ts', 'operator', 'create', name, '--role', role, '--json']
  const { stdout } = await run(process.execPath, args, { env: service.environment })
  return (JSON.parse(stdout) as { link: string }).link
}

async function signIn(page: Page, name: string, typed: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(typed)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('the sign-in page is accessible, is not cut off, and matches its screenshot', async ({ page, console }) => {
  await expectUsable(page, 'sign-in', { load: () => page.goto(console.url), picture: {} })
  await signIn(page, 'unknown', 'a wrong password')
  await expect(page.getByRole('alert')).toHaveText('The name or the password is wrong.')
  await expect(page.getByLabel('Name')).toHaveValue('unknown')
  await expect(page.getByLabel('Password')).toBeFocused()
  await expectUsable(page, 'sign-in-failed')
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('an operator sets a password by link, signs out, signs in, and sees the last sign-in on every page', async ({
    page,
    console,
  }) => {
    await page.goto(await console.createOperator('ada', 'act'))
    await page.getByLabel('New password').fill('too short')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page.getByRole('alert')).toHaveText('The password must have 15 to 256 characters.')
    await page.getByLabel('New password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const operator = page.getByRole('region', { name: 'Operator' })
    await expect(operator).toContainText('ada may act first sign-in')

    await page.getByRole('button', { name: 'Sign out' }).click()
    await expect(page).toHaveURL(`${console.url}/sign-in`)
    // The history has no page of the session.
    await page.goBack()
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()

    await page.goto(console.url)
    await signIn(page, 'ada', password)
    await expect(operator).toContainText(/ada may act last sign-in \d{4}-\d\d-\d\d .* from 127\.0\.0\.1/)
    await page.getByRole('link', { name: 'Rails', exact: true }).click()
    await expect(operator).toContainText('ada may act')
    await expect(page.getByText('Pause').first()).toBeVisible()
  })
})

test('an operator with the role look sees no actions, and every page is accessible', async ({ page, console }) => {
  const link = await console.createOperator('ben', 'look')
  await expectUsable(page, 'link', { load: () => page.goto(link) })
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('region', { name: 'Operator' })).toContainText('ben may look')
  for (const path of ['/', '/rails', '/prices', '/merchants', '/books']) {
    await expectUsable(page, `look${path.replace('/', '-')}`, { load: () => page.goto(`${console.url}${path}`) })
    await expect(page.locator('form[method=post]')).toHaveCount(1)
  }
  // The link was used up.
  expect((await page.goto(link))?.status()).toBe(403)
})
