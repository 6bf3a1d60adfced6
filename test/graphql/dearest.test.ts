import { describe, expect, test } from 'vitest'
import { insertEventRow, takeNumbers } from '../../src/events/repository.ts'
import { limits } from '../../src/graphql/limits.ts'
import { tokenFor } from '../client-tokens/support/tokens.ts'
import type { App } from '../support/app.ts'
import { startApp } from '../support/app.ts'
import { cpuMs } from '../support/cpu.ts'

const eventCount = 20_000

/** A merchant with many events of payouts, of which none is of a type that is asked for, nor of the customer. */
async function startWorld(): Promise<App> {
  const app = await startApp('sqlite')
  const merchantId = app.merchant.id
  await app.db.write(
    async (tx) => {
      await takeNumbers(tx, { merchantId, name: 'events', latest: eventCount, latestTime: 1_800_000_000_000n })
      for (let sequence = 1_000; sequence <= eventCount; sequence++) {
        const event = { merchantId, sequence, type: 'payout.initiated', objectId: app.service.newId() } as const
        await insertEventRow(tx, { ...event, time: 1_800_000_000_000n, version: 1, data: null })
      }
    },
    { merchantId },
  )
  return app
}

/** The largest document within the limits of so many of one field, each by its alias. */
function repeated(field: string, cost: number): string {
  const count = Math.min(limits.aliases, Math.floor(limits.cost / cost))
  return `{${Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ')}}`
}

async function leastOf(times: number, work: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < times; i++) least = Math.min(least, await cpuMs(work))
  return least
}

describe('the dearest document', () => {
  test('pages of events that find none cost no more time than the largest list of the same price', async () => {
    const app = await startWorld()
    const customer = await tokenFor(app, await app.customer(), ['read'])
    for (let i = 0; i < 100; i++) await app.wallet()
    const ask = async (document: string, key: string) => {
      const { errors } = await app.graphql(document, {}, { key })
      expect(errors).toEqual([])
    }
    const everything = 'wallets(first: 100) {nodes {id uuid currency description balance status createdAt updatedAt}}'
    const reference = repeated(everything, 811)
    const filtered = repeated('events(after: "1000", first: 1, filter: {types: [WALLET_CREATED]}) {after}', 502)
    const whole = repeated('events(after: "1000", first: 1) {after}', 502)
    const { apiKey } = app.merchant
    const known = await leastOf(5, () => ask(reference, apiKey))
    for (const [document, key] of [
      [filtered, apiKey],
      [filtered, customer],
      [whole, customer],
    ] as const) {
      const took = await leastOf(5, () => ask(document, key))
      expect(took / known, `${document.slice(0, 80)} took ${took} ms, lists ${known} ms`).toBeLessThan(4)
    }
  })
})
