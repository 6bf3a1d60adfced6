import type { Page, Request, Response } from '@playwright/test'
import { expect, shoot, test } from './fixtures.ts'

test('every operation of the tour succeeds, and the subscription receives the completed payout', async ({ page }) => {
  await openGraphiql(page)
  const titles = await tabTitles(page)
  expect(titles.length).toBeGreaterThanOrEqual(8)
  expect(titles.map((title) => Number(/^_(\d+)_/.exec(title)?.[1]))).toEqual(titles.map((_, index) => index + 1))
  await expectFitsWindow(page)
  for (const [index, title] of titles.entries())
    await test.step(title, () => (title.includes('Watch') ? watchPayout(page, index) : runTab(page, index)))
})

test('the editor shows each operation on a desktop and on a phone', async ({ page }) => {
  await openGraphiql(page)
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    for (const [index] of (await tabTitles(page)).entries()) {
      const title = await openTab(page, index)
      const countLines = () => countShownLines(page)
      await expect.soft.poll(countLines, `lines of ${title} at ${width} pixels`).toBeGreaterThanOrEqual(4)
    }
    await shoot(page, `operation-${width}`)
  }
})

test('GraphiQL sends requests as the customer whose name is typed, and as the merchant without one', async ({
  page,
}) => {
  await openGraphiql(page)
  const field = page.getByLabel('acting as')
  await field.focus()
  await expect.poll(() => page.locator('#acting-customers option').count()).toBeGreaterThan(1)
  for (const [typed, shown, credential] of [
    ['thabo', 'Thabo Nkosi (thabo.nkosi@example.com)', 'authorization'],
    ['nobody of this name', 'Thabo Nkosi (thabo.nkosi@example.com)', 'authorization'],
    ['', '', 'x-api-key'],
  ] as const) {
    await field.fill(typed)
    await field.press('Enter')
    await expect(page.locator('#acting')).toHaveValue(shown)
    const tokenRequest = page.waitForRequest(
      (request) => sends(request, '_1_Me') && !sends(request, 'createClientToken'),
    )
    await runTab(page, 0)
    const headers = await (await tokenRequest).allHeaders()
    const sent = ['authorization', 'x-api-key'].filter((name) => name in headers)
    expect.soft(sent, `credentials as ${shown || 'the merchant'}`).toEqual([credential])
    await shoot(page, `as-${shown === '' ? 'merchant' : 'customer'}`)
  }
})

test('GraphiQL has documentation, completion and headers, and a reload keeps its tabs', async ({ page, service }) => {
  const before = service.statusesOf('GET', '/graphql').length
  await openGraphiql(page)
  const titles = await tabTitles(page)
  await readDocumentation(page)
  await completeWord(page)
  await openHeaders(page)
  // GraphiQL stores its tabs a while after they have changed.
  const stored = () => page.evaluate(() => JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{"tabs":[]}').tabs)
  await expect.poll(async () => (await stored()).length).toBeGreaterThan(titles.length)
  await openGraphiql(page, () => page.reload())
  expect(await tabTitles(page)).toHaveLength(titles.length + 1)
  await shoot(page, 'reloaded')
  expect(service.statusesOf('GET', '/graphql').slice(before)).toEqual([200, 304])
})

/** Loads GraphiQL until it has the schema and its editor. */
async function openGraphiql(page: Page, load: () => Promise<Response | null> = () => page.goto('/graphql')) {
  const isSchema = (response: Response) => response.request().method() === 'POST'
  const [schema] = await Promise.all([page.waitForResponse(isSchema), load()])
  await page.locator('.graphiql-execute-button').waitFor()
  expect(await schema.json()).toHaveProperty('data')
}

function tabTitles(page: Page): Promise<string[]> {
  return page.getByRole('tab').allInnerTexts()
}

/** Expects that every tab and every line of the first comment can be read without scrolling sideways. */
async function expectFitsWindow(page: Page): Promise<void> {
  const excess = await page.locator('.graphiql-tabs').evaluate((list) => list.scrollWidth - list.clientWidth)
  expect.soft(excess, 'pixels cut off from the tabs').toBeLessThanOrEqual(0)
  const cut = await page.locator('.graphiql-query-editor .monaco-scrollable-element').evaluate((editor) => {
    const { right } = editor.getBoundingClientRect()
    const lines = [...editor.querySelectorAll('.view-line > span')]
    const comments = lines.filter((line) => line.textContent?.startsWith('#'))
    return comments.filter((line) => line.getBoundingClientRect().right > right).map((line) => line.textContent)
  })
  expect.soft(cut, 'lines cut off').toEqual([])
}

/** Returns the title of the tab that it opens. */
async function openTab(page: Page, index: number): Promise<string> {
  const tab = page.getByRole('tab').nth(index)
  const title = await tab.innerText()
  await tab.click()
  await page.locator('.graphiql-query-editor .view-lines').getByText(title).first().waitFor()
  return title
}

async function execute(page: Page): Promise<void> {
  // The editor learns its operation's name a moment after it shows the operation; no person clicks faster than that.
  await page.waitForTimeout(500)
  await page.locator('.graphiql-execute-button').click()
}

function sends(request: Request, text: string): boolean {
  return request.postData()?.includes(text) === true
}

async function runTab(page: Page, index: number): Promise<void> {
  const title = await openTab(page, index)
  const [response] = await Promise.all([
    page.waitForResponse((response) => sends(response.request(), `"${title}"`)),
    execute(page),
  ])
  const { data, errors } = await response.json()
  const failures = Object.values<{ __typename?: string }>(data ?? {}).filter((field) =>
    field.__typename?.endsWith('Error'),
  )
  expect.soft({ errors, failures }, `the response to ${title}`).toEqual({ errors: undefined, failures: [] })
  const result = page.locator('.result-window .view-lines')
  await result.getByText('"data"').first().waitFor()
  await expect.soft(result).not.toContainText('"errors"')
  await shoot(page, title)
}

/** Starts the subscription, has the bank pay in a second window, waits for the event, and ends the subscription. */
async function watchPayout(page: Page, index: number): Promise<void> {
  const title = await openTab(page, index)
  const result = page.locator('.result-window .view-lines')
  const [request] = await Promise.all([page.waitForRequest((request) => sends(request, `"${title}"`)), execute(page)])
  await result.getByText('"PROCESSING"').first().waitFor()
  const stop = page.getByRole('button', { name: /^stop/i })
  await stop.waitFor()
  await shoot(page, title)

  const second = await page.context().newPage()
  await openGraphiql(second)
  await runTab(second, index + 1)
  await result.getByText('"COMPLETED"').first().waitFor()
  await result.getByText('"Paid by the bank"').first().waitFor()
  await second.close()
  await shoot(page, `${title}-completed`)

  await Promise.all([page.waitForEvent('requestfailed', (failed) => failed === request), stop.click()])
  await page.getByRole('button', { name: /^execute/i }).waitFor()
}

/** Counts the lines of the operation, without its comments, that the editor shows without scrolling. */
function countShownLines(page: Page): Promise<number> {
  return page.locator('.graphiql-query-editor').evaluate((editor) => {
    const { bottom } = editor.getBoundingClientRect()
    const lines = [...editor.querySelectorAll('.view-lines .view-line')]
    const inside = lines.filter((line) => line.getBoundingClientRect().bottom <= bottom)
    return inside.filter((line) => line.textContent && !line.textContent.startsWith('#')).length
  })
}

async function readDocumentation(page: Page): Promise<void> {
  const explorer = page.getByRole('button', { name: /documentation explorer/i })
  await explorer.click()
  const docs = page.locator('.graphiql-doc-explorer')
  await docs.getByRole('link', { name: 'Query', exact: true }).click()
  await docs.getByRole('link', { name: 'payoutQuote', exact: true }).click()
  await docs.getByText('Changes nothing.').waitFor()
  await shoot(page, 'docs')
  await explorer.click()
}

/** Opens a new tab and lets the editor complete a word. */
async function completeWord(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New tab' }).click()
  const editor = page.locator('.graphiql-query-editor')
  await editor.click()
  await page.keyboard.type('{ merch')
  await page.keyboard.press('Control+Space')
  await page.locator('.suggest-widget').getByText('merchant').first().waitFor()
  await shoot(page, 'autocomplete')
  await page.keyboard.press('Enter')
  await editor.locator('.view-lines').getByText('merchant').first().waitFor()
}

async function openHeaders(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Headers', exact: true }).click()
  await page.getByText('pgw_sandbox_').first().waitFor()
  await shoot(page, 'headers')
}
