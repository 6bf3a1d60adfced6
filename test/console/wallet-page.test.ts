import { describe, expect, test } from 'vitest'
import type { Reader } from '../../src/database/query.ts'
import { findBalancesBefore } from '../../src/modules/exports/daily-balances.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { foreignScript, openConsole } from './support/open-console.ts'

const dayMs = 86_400_000

describe.each(everyEngine)('the page of a wallet on %s', (engine) => {
  test('draws the balance at the end of each of the last 30 days', async () => {
    let now = Date.parse('2026-03-01T10:00:00Z')
    const app = await startApp(engine, { clock: () => now })
    const walletId = await app.wallet({ balance: '100' })
    const other = await app.wallet({ assetCode: 'USDT', balance: '7' })
    now += 3 * dayMs
    await depositToWallet(app.context(), { walletId, amount: '50', reference: 'second deposit' })
    await perform(createPayout, app.context(), { assetCode: 'USDC', amount: '10', walletId, ...nigerian })
    now += 2 * dayMs
    const console = await openConsole(app)
    await console.enter()
    const { status, text } = await console.get(`/wallets/${walletId}`)
    const [, rows = ''] = /<details><summary>Figures<\/summary>(.*?)<\/details>/s.exec(text) ?? []
    const figures = [...rows.matchAll(/<time datetime="([\d-]+)">.*?class="number"><div>([^<]*)</gs)]
    const balances = Object.fromEntries(figures.map(([, day, balance]) => [day, balance]))
    expect([status, figures.length]).toEqual([200, 30])
    expect(figures[0]?.[1]).toBe('2026-03-06')
    const days = ['2026-02-28', '2026-03-01', '2026-03-03', '2026-03-04', '2026-03-06']
    expect(days.map((day) => balances[day])).toEqual(['0', '100', '100', '140', '140'])
    expect(text).not.toMatch(foreignScript)
    expect((await console.get(`/wallets/${other}`)).text).toContain('Today: 7.')
    const empty = await app.wallet({ assetCode: 'EUR', balance: '0' })
    expect((await console.get(`/wallets/${empty}`)).text).not.toContain('<figure')
    expect(console.faults).toEqual([])
  })

  test('suspends and activates the wallet, with a reason, and shows who did it', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    const other = await app.wallet()
    const console = await openConsole(app)
    await console.enter()
    const path = `/wallets/${walletId}`
    const statusOf = async (id: string) => (await app.rest('GET', `/api/wallets/${id}`)).body.data.status

    const refused = await console.act(path, 'wallet suspend', { reason: '' })
    expect([refused.status, await statusOf(walletId)]).toEqual([400, 'active'])
    await console.act(path, 'wallet suspend', { reason: 'stolen phone' })
    expect([await statusOf(walletId), await statusOf(other)]).toEqual(['suspended', 'active'])
    const { text } = await console.get(path)
    for (const part of ['✕</span> suspended', 'stolen phone', 'value="wallet activate"']) expect(text).toContain(part)
    expect(text).not.toContain('value="wallet suspend"')
    const listed = (await console.get('/wallets?status=suspended')).text
    expect([listed.includes(walletId), listed.includes(other)]).toEqual([true, false])
    await console.act(path, 'wallet activate', { reason: 'new phone' })
    expect(await statusOf(walletId)).toBe('active')
    const log = await console.kept()
    expect(log.map(({ action, subject, reason }) => [action, subject, reason])).toEqual([
      ['wallet suspend', walletId, 'stolen phone'],
      ['wallet activate', walletId, 'new phone'],
    ])
    expect(console.faults).toEqual([])
  })

  test('shows the balance at a given time, for example before the first entry or between two entries of one day', async () => {
    let now = Date.parse('2026-03-01T10:00:00Z')
    const app = await startApp(engine, { clock: () => now })
    const walletId = await app.wallet({ balance: '1' })
    for (let count = 1; count <= 20; count++) {
      now += dayMs / 2
      await depositToWallet(app.context(), { walletId, amount: '1', reference: `deposit ${count}` })
    }
    const times = ['2020-01-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-03-06T23:00:00.000Z']
    const balances = await findBalancesBefore(app.context(), walletId, [...times, '2030-01-01T00:00:00.000Z'])
    expect(balances.map(({ balance }) => balance / 100_000_000n)).toEqual([0n, 2n, 12n, 21n])
  })

  test('reads the balances of 30 days with as many queries for 1,500 entries as for 150 entries', async () => {
    const days = Array.from({ length: 30 }, (_, day) => new Date(Date.UTC(2026, 2, 1 + day)).toISOString())
    const queriesAmong = async (entryCount: number) => {
      let time = Date.parse('2026-02-28T12:00:00Z')
      const app = await startApp(engine, { clock: () => time })
      const walletId = await app.wallet({ balance: '1' })
      for (let count = 1; count < entryCount; count++) {
        time += (30 * dayMs) / entryCount
        await depositToWallet(app.context(), { walletId, amount: '1', reference: `deposit ${count}` })
      }
      let queries = 0
      const execute: Reader['execute'] = (query, params) => {
        queries++
        return app.db.execute(query, params)
      }
      const balances = await findBalancesBefore({ ...app.context(), db: { ...app.db, execute } }, walletId, days)
      const entriesPerDay = entryCount / 30
      expect(balances.map(({ balance }) => Number(balance / 100_000_000n))).toEqual(
        days.map((_, day) => Math.round((day + 0.5) * entriesPerDay)),
      )
      return queries
    }
    const queries = await queriesAmong(150)
    expect(queries).toBeLessThanOrEqual(5)
    expect(await queriesAmong(1_500)).toBe(queries)
  })
})
