import type { Page, Request, Response } from 'playwright-core'
import type { Visit } from './browser.ts'
import { openPage, say, shoot, visit, wrong } from './browser.ts'

// Runs the tour of GraphiQL in a real browser that reaches this service and no other host:
//   npm run browser:tour [-- --screenshots <folder>]
// It prints what it found, and its exit code is 1 when anything was wrong or there is no chromium.

await visit(takeTour)

async function takeTour(visiting: Visit): Promise<void> {
  const { address, statusesOf } = visiting.service
  const { page, strangers } = await openPage(visiting)
  await open(page, () => page.goto(`${address}/graphql`), 'first load')
  const titles = await tabTitles(page)
  if (titles.length < 8 || !titles.every((title, index) => title.startsWith(`_${index + 1}_`))) {
    wrong(`the tabs are ${titles.join(' ')}`)
  }
  await fitsTheWindow(page)
  for (const [index, title] of titles.entries()) {
    if (title.includes('Watch')) await watch(visiting, page, index)
    else await runTab(page, index)
  }
  await showsOperations(page)
  await actAsCustomer(page)
  await page.getByRole('tab').first().click()
  await readDocs(page)
  await complete(page)
  await openHeaders(page)

  // GraphiQL keeps its tabs a while after they have changed.
  await page.waitForFunction(
    (count) => JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{"tabs":[]}').tabs.length > count,
    titles.length,
  )
  await open(page, () => page.reload(), 'second load')
  // The second window has it from the first.
  const statuses = statusesOf('GET', '/graphql').join()
  if (statuses !== '200,304,304') wrong(`the service answers the loads with ${statuses}`)
  const reloaded = await tabTitles(page)
  if (reloaded.length !== titles.length + 1) wrong(`after a reload the tabs are ${reloaded.join(' ')}`)
  await shoot(page, 'reloaded')
  if (strangers.length > 0) wrong(`requests to other hosts: ${strangers.join(', ')}`)
  say(`requests to other hosts: ${strangers.length}`)
}

/** Loads the page until it can be used: the schema is read and the editor is there. */
async function open(page: Page, load: () => Promise<Response | null>, name: string): Promise<void> {
  const begun = performance.now()
  const [schema, response] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    load(),
  ])
  await page.locator('.graphiql-execute-button').waitFor()
  const isSchema = 'data' in (await schema.json())
  const took = Math.round(performance.now() - begun)
  const sizes = await response?.request().sizes()
  say(`${name}: ${sizes?.responseBodySize} bytes, ready after ${took} ms`)
  if (!isSchema) wrong(`${name} does not get the schema`)
}

async function tabTitles(page: Page): Promise<string[]> {
  const titles = await page.getByRole('tab').allInnerTexts()
  say(`tabs: ${titles.join(' ')}`)
  return titles
}

/** Every tab and every line of the first comment can be read without scrolling sideways. */
async function fitsTheWindow(page: Page): Promise<void> {
  const { width = 0 } = page.viewportSize() ?? {}
  const tabs = await page.locator('.graphiql-tabs').evaluate((list) => list.scrollWidth - list.clientWidth)
  if (tabs > 0) wrong(`at ${width} pixels the tabs are cut by ${tabs}`)
  const cut = await page.locator('.graphiql-query-editor .monaco-scrollable-element').evaluate((editor) => {
    const right = editor.getBoundingClientRect().right
    const comments = [...editor.querySelectorAll('.view-line > span')].filter((line) =>
      line.textContent?.startsWith('#'),
    )
    return comments.filter((line) => line.getBoundingClientRect().right > right).map((line) => line.textContent)
  })
  if (cut.length > 0) wrong(`at ${width} pixels the lines are cut: ${cut.join(' / ')}`)
}

/** Opens a tab, and answers what it is called. */
async function openTab(page: Page, index: number): Promise<string> {
  const tab = page.getByRole('tab').nth(index)
  const title = await tab.innerText()
  await tab.click()
  await page.locator('.graphiql-query-editor .view-lines').getByText(title).first().waitFor()
  // The editor learns which operation it holds a moment after it shows it; nobody clicks faster than that.
  await page.waitForTimeout(500)
  return title
}

/** Opens the subscription, has the bank pay in a second window, sees that arrive, and ends it. */
async function watch(visiting: Visit, page: Page, index: number): Promise<void> {
  const title = await openTab(page, index)
  const shown = page.locator('.result-window .view-lines')
  const [request] = await Promise.all([
    page.waitForRequest((request) => request.postData()?.includes(`"${title}"`) ?? false),
    page.locator('.graphiql-execute-button').click(),
  ])
  await shown.getByText('"PROCESSING"').first().waitFor()
  await page.getByRole('button', { name: /^stop/i }).waitFor()
  await shoot(page, title)

  const { page: second } = await openPage(visiting)
  await second.goto(page.url())
  await second.locator('.graphiql-execute-button').waitFor()
  await runTab(second, index + 1)
  await shown.getByText('"COMPLETED"').first().waitFor()
  await shown.getByText('"Paid by the bank"').first().waitFor()
  await second.close()
  await shoot(page, `${title}-told`)

  const [ended] = await Promise.all([
    page.waitForEvent('requestfailed', (failed) => failed === request),
    page.getByRole('button', { name: /^stop/i }).click(),
  ])
  await page.getByRole('button', { name: /^execute/i }).waitFor()
  say(`${title}: PROCESSING, COMPLETED, ended (${ended.failure()?.errorText})`)
}

/** On a desktop and on a phone the operation is what the editor shows: its first line and some of its fields. */
async function showsOperations(page: Page): Promise<void> {
  const desktop = page.viewportSize()
  for (const viewport of [desktop, { width: 390, height: 844 }]) {
    if (viewport) await page.setViewportSize(viewport)
    for (const [index] of (await page.getByRole('tab').all()).entries()) {
      const title = await openTab(page, index)
      const shown = await page.locator('.graphiql-query-editor .view-lines').evaluate((lines) => {
        const bottom = document.querySelector('.graphiql-query-editor')?.getBoundingClientRect().bottom ?? 0
        const inside = [...lines.querySelectorAll('.view-line')].filter(
          (line) => line.getBoundingClientRect().bottom <= bottom,
        )
        return inside.filter((line) => line.textContent && !line.textContent.startsWith('#')).length
      })
      if (shown < 4) wrong(`at ${viewport?.width} pixels ${title} shows ${shown} lines of its operation`)
    }
    await shoot(page, `operation-${viewport?.width}`)
  }
  if (desktop) await page.setViewportSize(desktop)
}

async function runTab(page: Page, index: number): Promise<void> {
  const title = await openTab(page, index)
  const [response] = await Promise.all([
    page.waitForResponse((response) => response.request().postData()?.includes(`"${title}"`) ?? false),
    page.locator('.graphiql-execute-button').click(),
  ])
  const { data, errors } = await response.json()
  const refusal = Object.values(data ?? {}).find((field) =>
    /Error$/.test((field as { __typename?: string }).__typename ?? ''),
  )
  if (errors || refusal) wrong(`${title} answers ${JSON.stringify(errors ?? refusal)}`)
  // What the reader sees, not only what the network brought.
  const shown = page.locator('.result-window .view-lines')
  await shown.getByText('"data"').first().waitFor()
  const text = await shown.innerText()
  if (text.includes('"errors"')) wrong(`${title} shows errors`)
  say(`${title}: ${Object.keys(data ?? {}).join(', ')}`)
  await shoot(page, title)
}

/** Types a part of a customer's name, as whom the first tab is asked with a token, and then nothing, which is the merchant. */
async function actAsCustomer(page: Page): Promise<void> {
  const field = page.getByLabel('acting as')
  await field.focus()
  await page.waitForFunction(() => document.querySelectorAll('#acting-customers option').length > 1)
  for (const [typed, shown, credential] of [
    ['thabo', 'Thabo Nkosi (thabo.nkosi@example.com)', 'authorization'],
    ['nobody of this name', 'Thabo Nkosi (thabo.nkosi@example.com)', 'authorization'],
    ['', '', 'x-api-key'],
  ] as const) {
    await field.fill(typed)
    await field.press('Enter')
    await page.waitForFunction((shown) => document.querySelector<HTMLInputElement>('#acting')?.value === shown, shown)
    const asked = page.waitForRequest(
      (request) => request.postData()?.includes('"_1_Me"') === true && !isToken(request),
    )
    await runTab(page, 0)
    const headers = await (await asked).allHeaders()
    const sent = ['authorization', 'x-api-key'].filter((name) => name in headers).join()
    if (sent !== credential) wrong(`as ${shown || 'the merchant'} it is asked with ${sent}`)
    await shoot(page, `as-${shown === '' ? 'merchant' : 'customer'}`)
  }
  say(`acts as each of ${await page.locator('#acting-customers option').count()} customers`)
}

function isToken(request: Request): boolean {
  return request.postData()?.includes('createClientToken') === true
}

async function readDocs(page: Page): Promise<void> {
  await page.getByRole('button', { name: /documentation explorer/i }).click()
  const docs = page.locator('.graphiql-doc-explorer')
  await docs.getByRole('link', { name: 'Query', exact: true }).click()
  await docs.getByRole('link', { name: 'payoutQuote', exact: true }).click()
  await docs.getByText('It writes nothing').waitFor()
  await shoot(page, 'docs')
  await page.getByRole('button', { name: /documentation explorer/i }).click()
}

/** Opens a tab of the reader's own and lets the editor finish a word. */
async function complete(page: Page): Promise<void> {
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
