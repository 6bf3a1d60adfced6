import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page, Response } from 'playwright-core'
import { chromium } from 'playwright-core'

// Runs the tour of GraphiQL in a real browser that reaches this service and no other host:
//   npm run browser:tour [-- --screenshots <folder>]
// It prints what it found, and its exit code is 1 when anything was wrong or there is no chromium.

const executablePath = '/usr/bin/chromium'
const quiet = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
const silent = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
// A proxy that is not there: all that does not go to this machine fails. (Intercepting would turn the cache off.)
const cutOff = ['--proxy-server=127.0.0.1:9', '--proxy-bypass-list=127.0.0.1']

const { values } = parseArgs({ options: { screenshots: { type: 'string' } } })
const faults: string[] = []

if (existsSync(executablePath)) await tour()
else faults.push(`there is no browser at ${executablePath} (on Debian: apt-get install chromium)`)
for (const fault of faults) say(`WRONG: ${fault}`)
process.exitCode = faults.length > 0 ? 1 : 0

async function tour(): Promise<void> {
  if (values.screenshots) await mkdir(values.screenshots, { recursive: true })
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  const running = await startService(join(folder, 'tour.sqlite'))
  // A browser of its own, which nobody has used: what it keeps lies in the folder too.
  const browser = await chromium.launchPersistentContext(join(folder, 'browser'), {
    executablePath,
    args: [...quiet, ...silent, ...cutOff],
    viewport: { width: 1440, height: 900 },
  })
  try {
    const page = await browser.newPage()
    await takeTour(page, running)
  } catch (error) {
    faults.push(`the tour stops: ${(error as Error).message}`)
    for (const page of browser.pages()) await shoot(page, 'stopped')
  } finally {
    await browser.close()
    await running.end()
    await rm(folder, { recursive: true })
  }
}

type Running = Awaited<ReturnType<typeof startService>>

/** Starts the service as `npm start` does, on a free port. */
async function startService(file: string) {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, ['src/main.ts'], {
    env: { PATH, PORT: '0', DATABASE_URL: `sqlite:${file}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stdout.on('data', (chunk) => {
    log += chunk
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const address = await new Promise<string>((resolve, reject) => {
    let greeting = ''
    child.stderr.on('data', (chunk) => {
      greeting += chunk
      const found = /http:\/\/[\d.]+:\d+/.exec(greeting)
      if (found) resolve(found[0])
    })
    child.once('close', () => reject(new Error(`the service ended: ${greeting}`)))
  })
  return {
    address,
    /** How it answered those who asked for the page; a browser that gets a 304 tells its page of a 200. */
    pageStatuses: () =>
      log
        .split('\n')
        .filter((line) => line.includes('"method":"GET","route":"/graphql"'))
        .map((line) => JSON.parse(line).status as number),
    end: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

async function takeTour(page: Page, { address, pageStatuses }: Running): Promise<void> {
  const strangers: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== address && !['blob:', 'data:'].includes(url.protocol)) strangers.push(request.url())
  })
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`the console says: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`the page fails: ${error.message}`))

  await open(page, () => page.goto(`${address}/graphql`), 'first load')
  const titles = await tabTitles(page)
  if (titles.length < 8 || !titles.every((title, index) => title.startsWith(`_${index + 1}_`))) {
    faults.push(`the tabs are ${titles.join(' ')}`)
  }
  for (const index of titles.keys()) await runTab(page, index)
  await page.getByRole('tab').first().click()
  await readDocs(page)
  await complete(page)
  await openHeaders(page)

  await open(page, () => page.reload(), 'second load')
  if (pageStatuses().join() !== '200,304') faults.push(`the service answers the two loads with ${pageStatuses()}`)
  const reloaded = await tabTitles(page)
  if (reloaded.length !== titles.length + 1) faults.push(`after a reload the tabs are ${reloaded.join(' ')}`)
  await shoot(page, 'reloaded')
  if (strangers.length > 0) faults.push(`requests to other hosts: ${strangers.join(', ')}`)
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
  if (!isSchema) faults.push(`${name} does not get the schema`)
}

async function tabTitles(page: Page): Promise<string[]> {
  const titles = await page.getByRole('tab').allInnerTexts()
  say(`tabs: ${titles.join(' ')}`)
  return titles
}

async function runTab(page: Page, index: number): Promise<void> {
  const tab = page.getByRole('tab').nth(index)
  const title = await tab.innerText()
  await tab.click()
  await page.locator('.graphiql-query-editor .view-lines').getByText(title).first().waitFor()
  // The editor learns which operation it holds a moment after it shows it; nobody clicks faster than that.
  await page.waitForTimeout(500)
  const [response] = await Promise.all([
    page.waitForResponse((response) => response.request().postData()?.includes(`"${title}"`) ?? false),
    page.locator('.graphiql-execute-button').click(),
  ])
  const { data, errors } = await response.json()
  const refusal = Object.values(data ?? {}).find((field) =>
    /Error$/.test((field as { __typename?: string }).__typename ?? ''),
  )
  if (errors || refusal) faults.push(`${title} answers ${JSON.stringify(errors ?? refusal)}`)
  // What the reader sees, not only what the network brought.
  const shown = page.locator('.result-window .view-lines')
  await shown.getByText('"data"').first().waitFor()
  const text = await shown.innerText()
  if (text.includes('"errors"')) faults.push(`${title} shows errors`)
  say(`${title}: ${Object.keys(data ?? {}).join(', ')}`)
  await shoot(page, title)
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

async function shoot(page: Page, name: string): Promise<void> {
  if (values.screenshots) await page.screenshot({ path: join(values.screenshots, `${name.replace(/^_/, '')}.png`) })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
