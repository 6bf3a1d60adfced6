import { AxeBuilder } from '@axe-core/playwright'
import type { Locator, Page } from '@playwright/test'
import { expect, shoot, test } from './fixtures.ts'

// All four combinations would find nothing more: overflow doesn't depend on colours.
const appearances = [
  { name: 'desktop', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const

export type Violation = { readonly id: string; readonly target: string }

type Options = {
  /** Loads the page again in each appearance. */
  readonly load?: () => Promise<unknown>
  readonly isAccepted?: (violation: Violation) => boolean
  readonly fullPage?: boolean
  /** Compares the page with its picture in the repository, without the parts that change. */
  readonly picture?: { readonly changing?: readonly Locator[] }
}

/** Expects that axe finds no violation and that nothing is cut off, on a desktop in light and on a phone in dark. */
export async function expectUsable(page: Page, name: string, options: Options = {}): Promise<void> {
  const { load, isAccepted = () => false, fullPage = false, picture } = options
  for (const { name: device, viewport, colorScheme } of appearances) {
    await test.step(`${name} on a ${device}`, async () => {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await load?.()
      const violations = await violationsIn(page)
      expect.soft(violations.filter((violation) => !isAccepted(violation))).toEqual([])
      await expectNoOverflow(page)
      const mask = [...(picture?.changing ?? [])]
      if (picture) await expect.soft(page).toHaveScreenshot(`${name}-${device}.png`, { mask })
      await shoot(page, `${name}-${device}`, { fullPage })
    })
  }
  await page.setViewportSize(appearances[0].viewport)
}

/** Returns what axe finds in a page without frames. */
export async function violationsIn(page: Page): Promise<Violation[]> {
  expect(page.frames()).toHaveLength(1)
  // The other mode opens a page of its own to merge the results of frames, which takes three times as much processor time.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => ({ id, target: target.join(' ') })))
}

export async function expectNoOverflow(page: Page): Promise<void> {
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  expect.soft(excess, 'pixels cut off at the right').toBeLessThanOrEqual(0)
}
