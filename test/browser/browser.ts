import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { BrowserContext, Page } from 'playwright-core'
import { chromium } from 'playwright-core'

const executablePath = '/usr/bin/chromium'
const quiet = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
const silent = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
// A proxy that is not there: all that does not go to this machine fails. (Intercepting would turn the cache off.)
const cutOff = ['--proxy-server=127.0.0.1:9', '--proxy-bypass-list=127.0.0.1']

const { values } = parseArgs({ options: { screenshots: { type: 'string' } }, allowPositionals: true })
const faults: string[] = []
let pictures = values.screenshots

/** A service of its own, a browser that reaches it and no other host, and more services where one is configured otherwise. */
export type Visit = {
  readonly browser: BrowserContext
  readonly service: Service
  readonly start: (environment: Record<string, string>) => Promise<Service>
}

/**
 * Lets `look` use them and prints what it found; the exit code is 1 when anything was wrong or there is no chromium.
 *
 * @param folder for screenshots where none is named; without it none are taken then
 */
export async function visit(look: (visit: Visit) => Promise<void>, folder?: string): Promise<void> {
  pictures ??= folder
  if (existsSync(executablePath)) await visitOnce(look)
  else wrong(`there is no browser at ${executablePath} (on Debian: apt-get install chromium)`)
  for (const fault of faults) say(`WRONG: ${fault}`)
  process.exitCode = faults.length > 0 ? 1 : 0
}

async function visitOnce(look: (visit: Visit) => Promise<void>): Promise<void> {
  if (pictures) await mkdir(pictures, { recursive: true })
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  const services: Service[] = []
  const start = async (environment: Record<string, string>) => {
    const service = await startService(join(folder, `service-${services.length}.sqlite`), environment)
    services.push(service)
    return service
  }
  const service = await start({})
  // A browser of its own, which nobody has used: what it keeps lies in the folder too.
  const browser = await chromium.launchPersistentContext(join(folder, 'browser'), {
    executablePath,
    args: [...quiet, ...silent, ...cutOff],
    viewport: { width: 1280, height: 800 },
  })
  try {
    await look({ browser, service, start })
  } catch (error) {
    wrong(`it stops: ${(error as Error).message}`)
    for (const [index, page] of browser.pages().entries()) await shoot(page, `stopped-${index}`)
  } finally {
    await browser.close()
    for (const each of services) await each.end()
    await rm(folder, { recursive: true })
  }
}

export type Service = Awaited<ReturnType<typeof startService>>

/** Starts the service as `npm start` does, on a free port. */
async function startService(file: string, environment: Record<string, string>) {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, ['src/app/main.ts'], {
    env: { PATH, PORT: '0', DATABASE_URL: `sqlite:${file}`, ...environment },
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
    /** What a command takes to work on the same database. */
    environment: { PATH, DATABASE_URL: `sqlite:${file}`, ...environment },
    /** How it answered those who asked for something; a browser that gets a 304 tells its page of a 200. */
    statusesOf: (method: string, route: string) =>
      log
        .split('\n')
        .filter((line) => line.includes(`"method":"${method}","route":"${route}"`))
        .map((line) => JSON.parse(line).status as number),
    end: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/**
 * A new page that reports what goes wrong in it; `strangers` are the requests that it sends to other hosts.
 *
 * @param isExpected whether what the browser complains of is meant to be, such as that a page is refused
 */
export async function openPage(
  { browser, service }: Visit,
  isExpected: (complaint: string) => boolean = () => false,
): Promise<{ page: Page; strangers: string[] }> {
  const page = await browser.newPage()
  const strangers: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== service.address && !['blob:', 'data:'].includes(url.protocol)) strangers.push(request.url())
  })
  page.on('console', (message) => {
    // That a page is missing is said of its own address too.
    const isMissing = message.location().url.endsWith('/nowhere') && message.text().includes('404')
    const isComplaint = ['error', 'warning'].includes(message.type()) && !isExpected(message.text())
    if (isComplaint && !isMissing) wrong(`the console says: ${message.text()}`)
  })
  page.on('pageerror', (error) => wrong(`the page fails: ${error.message}`))
  return { page, strangers }
}

/** Reports a fault. */
export function wrong(fault: string): void {
  faults.push(fault)
}

/** Keeps what the page looks like, where that was asked for. */
export async function shoot(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  if (!pictures) return
  await page.screenshot({ path: join(pictures, `${name.replace(/^_/, '')}.png`), fullPage })
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
