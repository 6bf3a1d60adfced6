import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import type { Visit } from './browser.ts'
import { openPage, say, shoot, visit, wrong } from './browser.ts'

// Looks at every page in a real browser, on a desk and on a phone, in light and in dark:
//   npm run browser:pages [-- --screenshots <folder>]
// axe finds nothing, nothing is cut, what can be copied is, and all of it is there without scripts and on paper.

const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
const paths = { home: '/', docs: '/docs', missing: '/nowhere', graphiql: '/graphql' }

/**
 * What axe finds in GraphiQL that is GraphiQL's own: tabs that hold buttons, and the numbers of lines in the dark. In the
 * `nav` that we add it is ours all the same.
 */
const graphiqlsOwn = ['nested-interactive', 'color-contrast']

await visit(async (visiting) => {
  const { page, strangers } = await openPage(visiting)
  await visiting.browser.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: visiting.service.address })
  for (const [name, path] of Object.entries(paths)) await lookAt(page, name, `${visiting.service.address}${path}`)
  await copies(page, `${visiting.service.address}/docs`)
  await copies(page, visiting.service.address)
  await walks(page, visiting.service.address)
  await isWholeWithoutScripts(visiting)
  if (strangers.length > 0) wrong(`requests to other hosts: ${strangers.join(', ')}`)
})

async function lookAt(page: Page, name: string, url: string): Promise<void> {
  // All four together would find nothing more: what is cut has no colour.
  for (const [size, colorScheme] of [
    ['desk', 'light'],
    ['phone', 'dark'],
  ] as const) {
    await page.setViewportSize(sizes[size])
    await page.emulateMedia({ colorScheme, media: 'screen' })
    await page.goto(url)
    if (name === 'graphiql') await page.locator('.graphiql-query-editor .view-line').first().waitFor()
    const found = await faultsIn(page)
    const ours = found.filter(
      ({ id, where }) => name !== 'graphiql' || !graphiqlsOwn.includes(id) || where.includes('nav'),
    )
    for (const { id, where } of ours) wrong(`${name}, ${size}, ${colorScheme}: ${id} at ${where}`)
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (excess > 0) wrong(`${name}, ${size}: ${excess} pixels are cut`)
    say(
      `${name}, ${size}, ${colorScheme}: axe finds ${[...new Set(found.map(({ id }) => id))].join(', ') || 'nothing'}`,
    )
    await shoot(page, `${name}-${size}-${colorScheme}`)
  }
  if (name === 'docs') await isWholeOnPaper(page)
}

async function faultsIn(page: Page): Promise<{ id: string; where: string }[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => ({ id, where: target.join(' ') })))
}

async function isWholeOnPaper(page: Page): Promise<void> {
  const closed = () =>
    page
      .locator('details:not([open]) > :not(summary)')
      .evaluateAll((all) => all.filter((each) => !each.checkVisibility({ contentVisibilityAuto: true })).length)
  const onScreen = await closed()
  await page.emulateMedia({ media: 'print' })
  const onPaper = await closed()
  await page.emulateMedia({ media: 'screen' })
  say(`docs: ${onScreen} parts are closed on the screen, ${onPaper} on paper`)
  if (onScreen === 0 || onPaper > 0) wrong('the docs are not opened for paper')
}

/** Each example is copied by its button as it stands there, reached by the keyboard. */
async function copies(page: Page, url: string): Promise<void> {
  await page.goto(url)
  const figures = page.locator('figure')
  const count = await figures.count()
  for (let index = 0; index < count; index++) {
    const figure = figures.nth(index)
    await figure.getByRole('button').focus()
    await page.keyboard.press('Enter')
    await figure.getByText('Copied', { exact: true }).waitFor()
    const [shown, copied] = [
      await figure.locator('pre').textContent(),
      await page.evaluate(() => navigator.clipboard.readText()),
    ]
    if (shown !== copied) wrong(`the button copies ${copied} instead of ${shown}`)
  }
  say(`${new URL(url).pathname}: ${count} examples are copied by their buttons`)
}

/** From page to page by the links that are there. */
async function walks(page: Page, address: string): Promise<void> {
  await page.goto(`${address}/nowhere`)
  for (const [link, path] of [
    ['the reference', '/docs'],
    ['GraphiQL', '/graphql'],
    ['REST', '/docs'],
    ['payout-gateway', '/'],
    ['REST reference', '/docs'],
  ] as const) {
    await page.getByRole('link', { name: link, exact: true }).first().click()
    await page.waitForURL(`${address}${path}`)
  }
  say('every page leads to the others')
}

async function isWholeWithoutScripts({ browser, service }: Visit): Promise<void> {
  const plain = await browser.browser()?.newContext({ javaScriptEnabled: false })
  if (!plain) return wrong('there is no browser without scripts')
  const page = await plain.newPage()
  for (const path of ['/', '/docs']) {
    await page.goto(`${service.address}${path}`)
    const [figures, buttons] = [await page.locator('figure pre').count(), await page.locator('button').count()]
    if (figures === 0 || buttons > 0) wrong(`${path} without scripts has ${figures} examples and ${buttons} buttons`)
  }
  await page.locator('details > summary').first().click()
  if (!(await page.locator('details > dl').first().isVisible())) wrong('nothing opens without scripts')
  await plain.close()
  say('all is there without scripts, but for the buttons')
}
