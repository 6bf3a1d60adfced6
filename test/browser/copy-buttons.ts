import type { Page } from '@playwright/test'
import { expect } from './fixtures.ts'

/** Expects that each example's button, reached by the keyboard, copies the example as the page shows it. */
export async function expectExamplesCopied(page: Page): Promise<void> {
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
