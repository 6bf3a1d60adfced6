import { userInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../../src/cli/run.ts'
import { listOperatorActions } from '../../src/modules/operators/list-operator-actions.ts'
import { createRailPayout } from '../modules/rails/support/rail-payouts.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { cli, createDemoInstallation, createEmptyInstallation } from '../support/process.ts'

describe.each(everyEngine)('the operator log of commands on %s', (engine) => {
  test('records the operator, action, subject and optional reason', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { id } = await createRailPayout(app.context())
    const place = await createEmptyInstallation({ DATABASE_URL: app.url })
    const own = { operator: userInfo().username, session: 'command', formId: null }

    expect((await cli(place, 'rail', 'pause', 'sandbox', '--reason', 'the bank\nis away')).code).toBe(0)
    expect((await cli(place, 'payout', 'settle', id.toUpperCase(), 'failed', '--override')).code).toBe(0)
    expect((await cli(place, 'rate', 'set', 'USDC', 'NGN', '1501')).code).toBe(0)
    // A rejected command is not logged.
    expect((await cli(place, 'rail', 'resume', 'nowhere', '--reason', 'x')).code).toBe(1)
    const wrong = await cli(place, 'rail', 'pause', 'other', '--reason', 'x'.repeat(256))
    expect([wrong.code, wrong.stderr]).toEqual([1, '--reason must have at most 255 characters.\n'])

    app.db.refresh()
    const { items } = await listOperatorActions(app.service, {})
    expect(items.toReversed()).toMatchObject([
      { ...own, action: 'rail pause', subject: 'sandbox', reason: 'the bank is away', details: {} },
      { ...own, action: 'payout settle', subject: id, reason: null, details: { override: 'true' } },
      { ...own, action: 'rate set', subject: 'USDC NGN', reason: null, details: { words: 'USDC NGN 1501' } },
    ])
  })
})

test('the command `console` prints a link, serves the console at that link, and exits when it is interrupted', async () => {
  const place = await createDemoInstallation()
  const ending = new AbortController()
  const output: string[] = []
  const print = (text: string) => output.push(text)
  const code = runCommand(['console', '--json'], {
    environment: place.env,
    print,
    printError: print,
    signal: ending.signal,
  })
  await expect.poll(() => output.length, { timeout: 8_000 }).toBe(1)
  const { link } = JSON.parse(String(output[0])) as { link: string }
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/)
  const response = await fetch(link, { redirect: 'manual' })
  expect(response.status).toBe(303)
  ending.abort()
  expect(await code).toBe(0)
  expect(JSON.parse(String(output[1]))).toEqual({ ended: null })
})

test('the command `console` exits after too many requests with a wrong link', async () => {
  const place = await createDemoInstallation()
  const output: string[] = []
  const print = (text: string) => output.push(text)
  const code = runCommand(['console'], { environment: place.env, print, printError: () => {} })
  await expect.poll(() => output.length, { timeout: 8_000 }).toBe(1)
  const [link = ''] = /http:\S+/.exec(String(output[0])) ?? []
  for (let guess = 0; guess < 20; guess++) await fetch(`${link.slice(0, -1)}-${guess}`)
  expect(await code).toBe(0)
  expect(output[1]).toBe('Too many requests had a wrong link or cookie.\n')
})
