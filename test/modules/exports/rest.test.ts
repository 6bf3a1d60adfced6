import { request as ask } from 'node:http'
import { fastify } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import { createDownloadSender, maxDownloadsPerMerchant } from '../../../src/server/rest/send-download.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { bearerOptions, newKey, tokenFor } from '../client-tokens/support/tokens.ts'

const formula = '=HYPERLINK("https://example.com","Refund")'
const kinds = ['payouts', 'fees', 'deposits'] as const

async function startBooks(engine: (typeof everyEngine)[number]) {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  await app.fee('0.5')
  const customerId = await app.customer()
  const [ownWallet, customerWallet] = [
    await app.wallet({ balance: '100' }),
    await app.wallet({ balance: '70', customerId }),
  ]
  const pay = async (amount: string, fields: object = {}) => {
    nowMs += 1_000
    const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount, ...fields } })
    return body.data.id as string
  }
  const ownPayout = await pay('10', { narration: formula })
  const [returned] = [await pay('20', { customer_id: customerId }), await pay('5', { customer_id: customerId })]
  await settlePayout(app.context(), { payoutId: returned, status: 'FAILED' })
  nowMs += 61_000
  return { app, customerId, ownWallet, customerWallet, ownPayout, returned, pay }
}

async function recordsOf(app: App, path: string, options: Parameters<App['rest']>[2] = {}) {
  const response = await app.rest('GET', `${path}${path.includes('?') ? '&' : '?'}format=ndjson`, options)
  expect([path, response.status]).toEqual([path, 200])
  const lines = response.text.trim().split('\n')
  // biome-ignore lint/suspicious/noExplicitAny: records are read as they come.
  return lines.map((line) => JSON.parse(line) as any)
}

describe.each(everyEngine)('exports by REST on %s', (engine) => {
  test('contain payouts with the fields of GET /api/payouts/:id, and end with the number of payouts', async () => {
    const { app, ownPayout } = await startBooks(engine)
    const records = await recordsOf(app, '/api/exports/payouts?to=2026-03-01T12:00:04Z')
    expect(records.map(({ type }) => type)).toEqual(['OPENING', 'PAYOUT', 'PAYOUT', 'PAYOUT', 'CLOSING', 'END'])
    const { data } = (await app.rest('GET', `/api/payouts/${ownPayout}`)).body
    expect(records[1]).toMatchObject({ ...data, total: '10.50000000', running_total: '10.50000000', number: 1 })
    expect(Object.keys(records[1])).toEqual([
      ...['type', 'merchant_id', 'number', ...Object.keys(data), 'total', 'running_total'],
    ])
    expect(records[4]).toMatchObject({ asset_code: 'USDC', running_total: '36.50000000' })
    expect(records[5]).toEqual({ type: 'END', number: 3 })
  })

  test('contain reversals of deposits, and refunds of the fees of failed and returned payouts', async () => {
    const { app, ownPayout, ownWallet: walletId } = await startBooks(engine)
    await settlePayout(app.context(), { payoutId: ownPayout, status: 'COMPLETED' })
    await settlePayout(app.context(), { payoutId: ownPayout, status: 'RETURNED', override: true })
    await depositToWallet(app.context(), { walletId, amount: '3', reference: 'mistyped' })
    await reverseDeposit(app.context(), { reference: 'mistyped', reason: 'mistyped' })
    const linesOf = async (kind: string) => {
      const records = await recordsOf(app, `/api/exports/${kind}?to=2026-03-02`)
      return records.filter((record) => 'kind' in record).map((record) => [record.kind, record.amount])
    }
    expect(await linesOf('fees')).toEqual([
      ...Array(3).fill(['charged', '0.50000000']),
      ...Array(2).fill(['given_back', '-0.50000000']),
    ])
    expect(await linesOf('deposits')).toEqual([
      ['deposit', '100.00000000'],
      ['deposit', '70.00000000'],
      ['deposit', '3.00000000'],
      ['deposit_reversal', '-3.00000000'],
    ])
  })

  test('escape spreadsheet formulas in CSV and keep them unchanged in JSON', async () => {
    const { app } = await startBooks(engine)
    const { text, headers } = await app.rest('GET', '/api/exports/payouts')
    expect(text).toContain(`"'=HYPERLINK(""https://example.com"",""Refund"")"`)
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="payouts-beginning-to-2026-03-01.csv"',
    })
    expect((await recordsOf(app, '/api/exports/payouts'))[1].narration).toBe(formula)
  })

  test('end with `END_NOT_FINAL` until one minute after the end of the period', async () => {
    const { app } = await startBooks(engine)
    const endOf = async (to: string) => (await recordsOf(app, `/api/exports/fees?to=${to}`)).at(-1).type
    expect(await endOf('2026-03-01T12:00:04.000Z')).toBe('END')
    expect(await endOf('2026-03-01T12:00:04.001Z')).toBe('END_NOT_FINAL')
  })

  test('contain, for a customer’s client token, only the rows and balances of that customer', async () => {
    const { app, customerId, ownWallet, customerWallet } = await startBooks(engine)
    const options = bearerOptions(await tokenFor(app, customerId))
    const totalOf = async (kind: string) => {
      const records = await recordsOf(app, `/api/exports/${kind}`, options)
      const { number } = records.at(-1)
      return [number, records.find(({ type }) => type === 'CLOSING').running_total]
    }
    expect(await Promise.all([totalOf('payouts'), totalOf('fees')])).toEqual([
      [2, '26.00000000'],
      [3, '0.50000000'],
    ])
    expect(await totalOf('deposits')).toEqual([1, '70.00000000'])
    expect((await recordsOf(app, `/api/wallets/${customerWallet}/statement`, options)).at(-1).sequence).toBe(4)
    expect((await app.rest('GET', `/api/wallets/${ownWallet}/statement`, options)).status).toBe(404)
  })

  test('require the scope `read` and contain nothing of another merchant', async () => {
    const { app, ownWallet } = await startBooks(engine)
    const { apiKey } = await newKey(app, { scopes: ['payouts'] })
    const { apiKey: key } = await app.otherMerchant()
    for (const path of [...kinds.map((kind) => `/api/exports/${kind}`), `/api/wallets/${ownWallet}/statement`]) {
      expect((await app.rest('GET', path, { key: apiKey })).body.error.code).toBe('INSUFFICIENT_SCOPE')
      const { status, text } = await app.rest('GET', path, { key })
      expect([path, status, /PAYOUT|FEE|DEPOSIT|ENTRY/.test(text)]).toEqual([
        path,
        path.includes('wallets') ? 404 : 200,
        false,
      ])
    }
  })

  test('have the format that the Accept header requests, and errors are JSON', async () => {
    const { app } = await startBooks(engine)
    for (const [accept, status] of Object.entries({
      'text/csv': 200,
      '*/*': 200,
      'application/json': 200,
      'text/html': 406,
    })) {
      const response = await app.rest('GET', '/api/exports/payouts', { headers: { accept } })
      expect([accept, response.status]).toEqual([accept, status])
    }
    const { body } = await app.rest('GET', '/api/exports/payouts?from=May', { headers: { accept: 'text/csv' } })
    expect(body.error.details.fields).toMatchObject([{ field: 'from', code: 'INVALID_FORMAT' }])
  })
})

/** A host that sends only downloads with the given chunks. */
async function startHost(chunks: () => AsyncIterable<string>, stallsAfterMs?: number) {
  const app = fastify()
  onTestFinished(() => app.close())
  const send = createDownloadSender(() => ({ ended: new Promise(() => {}), release: () => {} }), stallsAfterMs)
  app.decorateRequest('merchantId', 'one')
  app.get('/', (request, reply) =>
    send({ request, reply }, async () => ({ type: 'text/csv', name: 'a', chunks: chunks() })),
  )
  const address = new URL(await app.listen({ port: 0 }))
  return address
}

describe('a file download', () => {
  test('is aborted if an error occurs after the first byte', async () => {
    const url = await startHost(async function* () {
      yield 'type\r\n'
      throw new Error('it does not add up')
    })
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow()
  })

  test('has the status 500 if an error occurs before the first byte', async () => {
    // biome-ignore lint/correctness/useYield: it never comes to that.
    const url = await startHost(async function* () {
      throw new Error('it does not add up')
    })
    expect((await fetch(url)).status).toBe(500)
  })

  test('is paused while the client does not read, and is aborted after a timeout', async () => {
    let chunkCount = 0
    const ended = Promise.withResolvers<void>()
    const url = await startHost(async function* () {
      try {
        for (; chunkCount < 10_000; chunkCount++) yield 'x'.repeat(100_000)
      } finally {
        ended.resolve()
      }
    }, 50)
    const request = ask(url, (response) => response.pause()).on('error', () => {})
    request.end()
    await ended.promise
    expect(chunkCount).toBeLessThan(1_000)
    request.destroy()
  })

  test('has headers but no body for a HEAD request', async () => {
    const app = await startApp('sqlite')
    const { headers, text } = await app.rest('HEAD', '/api/exports/payouts')
    expect([headers['content-type'], text]).toEqual([expect.stringContaining('text/csv'), ''])
  })

  test('is rejected if the merchant has reached the limit of concurrent downloads', async () => {
    const wait = Promise.withResolvers<void>()
    const url = await startHost(async function* () {
      yield 'begun'
      await wait.promise
    })
    const open = await Promise.all(Array.from({ length: maxDownloadsPerMerchant }, () => fetch(url)))
    const rejected = await fetch(url)
    expect(rejected.headers.get('retry-after')).toBe('5')
    expect(rejected.status).not.toBe(200)
    wait.resolve()
    expect(await Promise.all(open.map((response) => response.text()))).toEqual(open.map(() => 'begun'))
    expect((await fetch(url)).status).toBe(200)
  })
})
