import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Page } from '@playwright/test'
import { test as base, expect } from '@playwright/test'
import type { Service } from './service.ts'
import { startService } from './service.ts'

type TestFixtures = {
  /** Console messages that a test provokes, such as the browser's own about a 404. */
  readonly expectedComplaints: RegExp | null
  readonly complaints: undefined
}

type WorkerFixtures = {
  /** Starts one more service, which stops with the worker. */
  readonly startService: (environment?: Record<string, string>) => Promise<Service>
  /** The service that relative addresses lead to, with the sandbox's defaults. */
  readonly service: Service
}

/** Fails each test whose pages reach for another host, log an error or a warning, or throw. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  startService: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
      const services: Service[] = []
      await use(async (environment) => {
        const service = await startService(join(folder, `service-${services.length}.sqlite`), environment)
        services.push(service)
        return service
      })
      for (const service of services) await service.stop()
      await rm(folder, { recursive: true })
    },
    { scope: 'worker' },
  ],
  service: [async ({ startService }, use) => use(await startService()), { scope: 'worker' }],
  baseURL: async ({ service }, use) => use(service.address),
  expectedComplaints: [null, { option: true }],
  complaints: [
    async ({ browser, expectedComplaints }, use) => {
      const complaints: string[] = []
      const watch = (context: BrowserContext) => watchContext(context, complaints)
      browser.on('context', watch)
      await use(undefined)
      browser.off('context', watch)
      expect(complaints.filter((complaint) => !expectedComplaints?.test(complaint))).toEqual([])
    },
    { auto: true },
  ],
})

export { expect }

function watchContext(context: BrowserContext, complaints: string[]): void {
  context.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url())
    if (/^https?:$/.test(protocol) && hostname !== '127.0.0.1') complaints.push(`a request to ${request.url()}`)
  })
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      complaints.push(`console ${message.type()}: ${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (thrown) => complaints.push(`an uncaught error: ${thrown.error().message}`))
}

/** Writes a picture into the test's folder of results if SCREENSHOTS is set. */
export async function shoot(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  const info = test.info()
  if (info.project.use.screenshot !== 'on') return
  await page.screenshot({ path: info.outputPath(`${name.replace(/^_/, '')}.png`), fullPage })
}
