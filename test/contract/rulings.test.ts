import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../', import.meta.url)

/** Rulings on the envelope, requests, payout methods and wallets; those on payouts follow. */
const lastRuling = 35

test('each of the first 35 rulings has a test whose title begins with its number', () => {
  const named = new Set<number>()
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.test.ts')) continue
    const source = readFileSync(new URL(path, folder), 'utf8')
    for (const [, number] of source.matchAll(/['"`]ruling (\d+)/g)) named.add(Number(number))
  }
  const missing = Array.from({ length: lastRuling }, (_, i) => i + 1).filter((number) => !named.has(number))
  expect(missing).toEqual([])
})
