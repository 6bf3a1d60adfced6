import type { Page } from '@playwright/test'
import { expectUsable } from './appearance.ts'
import { expect, test } from './fixtures.ts'

// The browser complains about the status of the missing page itself.
test.use({ expectedComplaints: /status of 404 .*\/nowhere\)$/ })

test('the home page is accessible, is not cut off, and matches its screenshot', async ({ page }) => {
  const changing = [page.locator('figure pre')]
  await expectUsable(page, 'home', { load: () => page.goto('/'), picture: { changing } })
})

test('the page for a missing path is accessible, is not cut off, and matches its screenshot', async ({ page }) => {
  const changing = [page.locator('code')]
  await expectUsable(page, 'missing', { load: () => page.goto('/nowhere'), picture: { changing } })
})

test('the page of errors is accessible, is not cut off, and highlights the error code in its URL', async ({ page }) => {
  await expectUsable(page, 'errors', { load: () => page.goto('/docs/errors#rate_limited') })
  expect(await page.locator('tr:target').innerText()).toContain('RATE_LIMITED')
})

/** GraphiQL's own violations: tabs that contain buttons, and the line numbers in the dark. */
const graphiqlsOwn = ['nested-interactive', 'color-contrast']

test('GraphiQL is accessible except for known violations, is not cut off, and matches its screenshot', async ({
  page,
}) => {
  const load = async () => {
    await page.goto('/graphql')
    await page.locator('.graphiql-query-editor .view-line').first().waitFor()
  }
  // The `nav` in it is ours.
  await expectUsable(page, 'graphiql', {
    load,
    picture: {},
    isAccepted: ({ id, target }) => graphiqlsOwn.includes(id) && !target.includes('nav'),
  })
})

test("the home page's buttons copy its examples", async ({ page }) => {
  await page.goto('/')
  await expectExamplesCopied(page)
})

for (const [from, link] of [
  ['/nowhere', 'the reference'],
  ['/graphql', 'REST'],
  ['/', 'REST reference'],
] as const)
  test(`the link “${link}” of ${from} leads to the reference`, async ({ page }) => {
    await page.goto(from)
    await page.getByRole('link', { name: link, exact: true }).first().click()
    await page.waitForURL('/docs')
  })

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('the home page has the examples and no buttons', async ({ page }) => {
    await page.goto('/')
    expect(await page.locator('figure pre').count()).toBeGreaterThan(0)
    expect(await page.locator('button').count()).toBe(0)
  })
})

/** Expects that each example's button, reached by the keyboard, copies the example as the page shows it. */
async function expectExamplesCopied(page: Page): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const figures = await page.locator('figure').all()
  expect(figures.length).toBeGreaterThan(0)
  for (const figure of figures) {
    await figure.getByRole('button').focus()
    await page.keyboard.press('Enter')
    await figure.getByText('Copied', { exact: true }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect.soft(copied).toBe(await figure.locator('pre').textContent())
  }
}
