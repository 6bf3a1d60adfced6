import { expect, test } from 'vitest'
import { unavailableDatabase } from '../../../src/database/database.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { measureProcess } from '../../../src/observability/metrics/process-metrics.ts'
import { renderMetrics } from '../../../src/observability/metrics/snapshot.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import type { Scrape } from './support/scrape.ts'
import { readScrape, sumOf } from './support/scrape.ts'

const merchants = 1_000

const ignored = () => {}

/** Returns the scraped metrics of a process. */
async function scrapeOf({ snapshot }: ReturnType<typeof measureProcess>): Promise<Scrape> {
  const written = renderMetrics([await snapshot({ isWanted: true })], { answered: 1, silent: 0 })
  return readScrape((await written('openMetrics')).text)
}

test('a thousand merchants produce the same metric series as one merchant', async () => {
  const measured = measureProcess({ version: '1' })
  const app = await startApp('sqlite', { measuring: measured.instrumentation })
  measured.instrumentation.observeDatabase({ service: app.service, rails: ['sandbox'], onError: ignored })

  const use = async ({ id, apiKey }: { id: string; apiKey: string }) => {
    const context = createContext(app.service, id)
    await perform(createWallet, context, { currency: 'USDC', description: 'Test', network: 'solana' })
    const response = await app.rest('GET', '/api/wallets', { key: apiKey })
    await app.rest('GET', `/api/wallets/${response.body.data[0].id}`, { key: apiKey })
    await app.rest('GET', `/api/wallets/${id}`, { key: apiKey })
    await app.rest('GET', `/${id}`, { key: apiKey })
    await app.rest('POST', '/api/payouts/banks', { key: apiKey, body: payoutBody })
    await app.rest('POST', '/graphql', {
      key: apiKey,
      body: { query: `query Of_${id.slice(0, 8)} { merchant { name } }` },
    })
  }
  await use(app.merchant)
  const one = await scrapeOf(measured)
  for (let merchant = 1; merchant < merchants; merchant++)
    await use(await createMerchant(app.service, { name: 'Test' }))
  const thousand = await scrapeOf(measured)

  const own = ({ series }: Scrape) => [...series.keys()].filter((name) => name.startsWith('payout_gateway_'))
  expect(own(thousand)).toEqual(own(one))
  expect(sumOf(thousand, 'http_request_duration_seconds_count')).toBe(6 * merchants)
  expect(sumOf(thousand, 'graphql_operations_total', { operation: 'query', name: '' })).toBe(merchants)
  expect(sumOf(thousand, 'refusals_total', { code: 'INSUFFICIENT_FUNDS' })).toBe(merchants)
  expect(thousand.text).not.toContain(app.merchant.id)
})

test('a scrape while the database is unavailable omits the database gauges and logs the failure', async () => {
  const measured = measureProcess({ version: '1' })
  const faults: unknown[] = []
  const service = createService({ db: unavailableDatabase(), mode: 'live' })
  measured.instrumentation.observeDatabase({ service, rails: ['sandbox'], onError: (error) => faults.push(error) })

  const scrape = await scrapeOf(measured)
  expect(scrape.names).toContain('payout_gateway_build_info')
  expect(scrape.names).toContain('payout_gateway_payouts_created')
  expect([...scrape.names].filter((name) => /processing|rate_age|rail_unknown/.test(name))).toEqual([])
  expect(faults).toMatchObject([{ code: 'UNAVAILABLE' }])
})
