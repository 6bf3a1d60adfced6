import type { Page } from '@playwright/test'
import { expectUsable } from './appearance.ts'
import { expectExamplesCopied } from './copy-buttons.ts'
import { expect, test } from './fixtures.ts'

test('the REST reference is accessible and nothing is cut off', async ({ page }) => {
  await expectUsable(page, 'docs', { load: () => page.goto('/docs') })
})

test('the REST reference opens its collapsed parts on paper', async ({ page }) => {
  await page.goto('/docs')
  expect(await countCollapsed(page)).toBeGreaterThan(0)
  await page.emulateMedia({ media: 'print' })
  expect(await countCollapsed(page)).toBe(0)
})

function countCollapsed(page: Page): Promise<number> {
  return page
    .locator('details:not([open]) > :not(summary)')
    .evaluateAll((all) => all.filter((each) => !each.checkVisibility({ contentVisibilityAuto: true })).length)
}

test("the REST reference's buttons copy its examples", async ({ page }) => {
  await page.goto('/docs')
  await expectExamplesCopied(page)
})

for (const [link, path] of [
  ['GraphiQL', '/graphql'],
  ['payout-gateway', '/'],
] as const)
  test(`the link “${link}” of the REST reference leads to ${path}`, async ({ page }) => {
    await page.goto('/docs')
    await page.getByRole('link', { name: link, exact: true }).first().click()
    await page.waitForURL(path)
  })

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('the REST reference has its examples, no buttons, and details that open', async ({ page }) => {
    await page.goto('/docs')
    expect(await page.locator('figure pre').count()).toBeGreaterThan(0)
    expect(await page.locator('button').count()).toBe(0)
    await page.locator('details > summary').first().click()
    await expect(page.locator('details > dl').first()).toBeVisible()
  })
})
