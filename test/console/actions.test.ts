import { describe, expect, test } from 'vitest'
import { listDepositAttention } from '../../src/modules/deposits/resolve-deposit.ts'
import { listEvents } from '../../src/modules/events/list-events.ts'
import { listKeys } from '../../src/modules/merchants/manage-keys.ts'
import { getPayout } from '../../src/modules/payouts/get-payout.ts'
import { fees } from '../../src/modules/pricing/fees.ts'
import { rates } from '../../src/modules/pricing/rates.ts'
import { cancelPayout } from '../../src/modules/rails/orders/cancel-payout.ts'
import { listRails } from '../../src/modules/rails/orders/rail-routes.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { getWallet } from '../../src/modules/wallets/get-wallet.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { getWebhookEndpoint } from '../../src/modules/webhooks/endpoints/get-webhook-endpoint.ts'
import type { Context } from '../../src/operations/context.ts'
import { nodeRail, postReport, refOf, sampleReport } from '../modules/deposits/support/node.ts'
import {
  createContradictedPayout,
  createRailPayout,
  makeDueCall,
  railOrderOf,
} from '../modules/rails/support/rail-payouts.ts'
import type { App, Engine } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { readStoredRows } from '../support/stored.ts'
import { openConsole, textOf } from './support/open-console.ts'

async function start(engine: Engine) {
  const app = await startApp(engine, { rails: [nodeRail] })
  const walletId = await app.wallet({ balance: '100' })
  const console = await openConsole(app)
  await console.enter()
  return { app, console, walletId, context: app.context() }
}

const endpointOf = async (app: App): Promise<string> =>
  (await createWebhookEndpoint(app.context(), { url: 'https://example.com/hooks' })).result.id

/** Creates a payout with contradictory bank reports, and one that a bank has lost. */
const paidAndNot = (context: Context) => createContradictedPayout(context, 'COMPLETED', 'REJECTED')
async function createLostPayout(context: Context): Promise<string> {
  const { id } = await createRailPayout(context)
  await makeDueCall(context, id, { state: 'ACCEPTED' })
  await cancelPayout(context, { payoutId: id })
  await makeDueCall(context, id, 'NOT_FOUND', { idempotentForMs: 0 })
  return id
}

describe.each(everyEngine)('console actions on %s:', (engine) => {
  test.each([
    ['retry', 'PROCESSING', createLostPayout, 'UNKNOWN', 90n],
    ['complete', 'COMPLETED', paidAndNot, 'COMPLETED', 90n],
    ['fail', 'RETURNED', paidAndNot, 'RETURNED', 100n],
  ] as const)(
    '`attention %s` resolves a payout in the attention queue and stores the reason',
    async (word, status, make, state, left) => {
      const { app, console, walletId, context } = await start(engine)
      const payoutId = await make(context)
      expect((await console.get('/attention')).text).toContain(payoutId)
      const sent = await console.act(`/payouts/${payoutId}`, `attention ${word}`)
      expect([sent.status, sent.headers.location]).toEqual([303, expect.stringMatching(/\?done=[\w-]{36}$/)])
      const page = await console.ask('GET', String(sent.headers.location), { cookie: console.session() })
      expect(page.text).toContain(`Done: attention ${word}.`)

      expect(await getPayout(context, { payoutId })).toMatchObject({ status })
      expect(await railOrderOf(context, payoutId)).toMatchObject({ state })
      expect((await getWallet(context, { walletId })).balance).toBe(left * 100_000_000n)
      const subject = payoutId
      expect(await console.kept()).toEqual([
        { action: `attention ${word}`, subject, reason: 'somebody rang', details: {} },
      ])
      await app.expectBooksToBalance()
    },
  )

  test('`payout cancel` cancels a payout, and `payout settle` sets the status of a payout', async () => {
    const { console, context } = await start(engine)
    const [{ id: first }, { id: second }] = [await createRailPayout(context), await createRailPayout(context)]
    await console.act(`/payouts/${first}`, 'payout cancel')
    expect(await getPayout(context, { payoutId: first })).toMatchObject({ status: 'FAILED' })

    const refused = await console.act(`/payouts/${second}`, 'payout settle', { status: 'COMPLETED' })
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('must be given, because the payout is on the rail sandbox')
    expect(await getPayout(context, { payoutId: second })).toMatchObject({ status: 'PROCESSING' })
    await console.act(`/payouts/${second}`, 'payout settle', { status: 'COMPLETED', override: 'yes' })
    expect(await getPayout(context, { payoutId: second })).toMatchObject({ status: 'COMPLETED' })
    expect((await console.kept()).map(({ action, details }) => [action, details])).toEqual([
      ['payout cancel', {}],
      ['payout settle', { status: 'COMPLETED', override: 'yes' }],
    ])
    const { text } = await console.get(`/payouts/${second}`)
    expect(text).toContain('somebody rang')
  })

  test('`deposit reverse` reverses a mistyped deposit once, and the page offers the action only for deposits not yet reversed', async () => {
    const { app, console, walletId, context } = await start(engine)
    await depositToWallet(context, { walletId, amount: '1000000', reference: 'mistyped' })
    const path = `/wallets/${walletId}`
    expect((await console.act(path, 'deposit reverse', {}, 'mistyped')).status).toBe(303)
    expect((await getWallet(context, { walletId })).balance).toBe(10_000_000_000n)
    expect(await console.kept()).toEqual([
      { action: 'deposit reverse', subject: 'mistyped', reason: 'somebody rang', details: {} },
    ])
    const { text } = await console.get(path)
    expect(text.match(/name="target" value="[^"]*"/g)).toEqual([`name="target" value="opening ${walletId}"`])
    await app.expectBooksToBalance()
  })

  test('`key create` shows the new API key once, and `key revoke` and `key rotate` change API keys', async () => {
    const { app, console } = await start(engine)
    const path = `/merchants/${app.merchant.id}`
    const form = { ...(await console.form(path, 'key create')), reason: 'a new shop', scopes: 'read' }
    const response = await console.post(path, form)
    const [, apiKey = ''] = /<code>(pgw_sandbox_\w+)<\/code>/.exec(response.text) ?? []
    expect(response.status).toBe(200)
    expect((await app.rest('GET', '/api/customers', { key: apiKey })).status).toBe(200)
    // The repeated form creates no second key, and shows none.
    const again = await console.post(path, form)
    expect([again.status, again.text]).toEqual([303, ''])
    expect(await listKeys(app.service, app.merchant.id)).toHaveLength(2)
    expect((await console.get(path)).text).not.toContain(apiKey.slice(-20))

    const keyId = apiKey.split('_')[2] ?? ''
    await console.act(path, 'key revoke', {}, keyId)
    expect((await app.rest('GET', '/api/customers', { key: apiKey })).status).toBe(401)
    const rotated = await console.act(path, 'key rotate')
    expect(rotated.text).toContain('shown this once')
    const stored = JSON.stringify(await readStoredRows(app))
    expect(stored).not.toContain(apiKey.split('_')[3])
    expect(await console.kept()).toEqual([
      { action: 'key create', subject: app.merchant.id, reason: 'a new shop', details: { scopes: 'read' } },
      { action: 'key revoke', subject: keyId, reason: 'somebody rang', details: {} },
      { action: 'key rotate', subject: app.merchant.id, reason: 'somebody rang', details: {} },
    ])
  })

  test('an action that moves money or cannot be undone first opens a confirmation page, which changes nothing', async () => {
    const { app, console, walletId, context } = await start(engine)
    const { id: payoutId } = await createRailPayout(context)
    await depositToWallet(context, { walletId, amount: '25', reference: 'mistyped' })
    const before = await readStoredRows(app)
    const [keyId = ''] = (await listKeys(app.service, app.merchant.id)).map(({ id }) => id)
    for (const [path, confirm, target, ...values] of [
      [`/payouts/${payoutId}`, 'payout cancel', '', '10.00 USDC', 'PROCESSING', 'Cancels immediately'],
      [`/payouts/${payoutId}`, 'payout settle', '', '10.00 USDC', 'Outcome', 'Record what the bank did'],
      [`/wallets/${walletId}`, 'deposit reverse', 'mistyped', 'mistyped', '25.00 USDC', 'Debits the full amount once'],
      [`/merchants/${app.merchant.id}`, 'key revoke', keyId, keyId, 'A revocation cannot be undone'],
    ] as const) {
      const page = await console.get(path)
      expect(page.text).toContain(`name="confirm" value="${confirm}"`)
      expect(page.text).not.toContain(`name="_action" value="${confirm}"`)
      const { status, text } = await console.get(`${path}?${new URLSearchParams({ confirm, target })}`)
      expect(status).toBe(200)
      for (const value of [...values, 'name="reason"', 'Back, and change nothing']) expect(text).toContain(value)
    }
    expect(await readStoredRows(app)).toEqual(before)

    const path = `/payouts/${payoutId}`
    const refused = await console.act(path, 'payout cancel', { reason: '' })
    expect([refused.status, refused.text.includes('<strong>Not done.</strong> Reason must')]).toEqual([400, true])
    expect(refused.text).toContain('10.00 USDC')
    expect((await console.get(`${path}?confirm=rail+pause`)).text).toContain('Timeline')
    expect((await console.get(`/payouts/${app.merchant.id}?confirm=payout+cancel`)).status).toBe(404)
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('`rail pause` and `rail resume` change the state of a rail', async () => {
    const { app, console } = await start(engine)
    const isPaused = async () => (await listRails(app.service, [])).some(({ pausedAt }) => pausedAt !== null)
    await console.act('/rails', 'rail pause', {}, 'sandbox')
    expect([await isPaused(), (await console.get('/')).text.includes('Paused: sandbox')]).toEqual([true, true])
    await console.act('/rails', 'rail resume', {}, 'sandbox')
    expect(await isPaused()).toBe(false)
  })

  test('webhook endpoints can be disabled, enabled and tested, their events replayed, and their secrets rotated', async () => {
    const { app, console, context } = await start(engine)
    const webhookId = await endpointOf(app)
    const path = `/webhooks/${webhookId}`
    const status = async () => (await getWebhookEndpoint(context, { webhookId })).status
    await console.act(path, 'webhook disable')
    expect(await status()).toBe('disabled')
    await console.act(path, 'webhook enable', { from: 'now' })
    expect(await status()).toBe('enabled')
    await console.act(path, 'webhook test')
    await console.act(path, 'webhook replay', { after: '0' })
    expect((await getWebhookEndpoint(context, { webhookId })).cursor).toBe(0)
    const rotated = await console.act(path, 'webhook rotate')
    const [, secret = ''] = /<code>(whsec_[^<]+)<\/code>/.exec(rotated.text) ?? []
    expect(secret).not.toBe('')

    const neither = await console.act(path, 'webhook replay', { after: 'x' })
    expect([neither.status, neither.text.includes('After sequence must be a whole number')]).toEqual([400, true])
    const log = await console.kept()
    expect(log.map(({ action }) => action)).toEqual([
      'webhook disable',
      'webhook enable',
      'webhook test',
      'webhook replay',
      'webhook rotate',
    ])
    expect(JSON.stringify(log)).not.toContain(textOf(secret))
  })

  test('rates and fees can be set, and cancelled before they take effect', async () => {
    const { app, console } = await start(engine)
    const pair = { fromCode: 'USDC', toCode: 'NGN' }
    const slip = await console.act('/prices', 'rate set', { ...pair, rate: '9000' })
    expect([slip.status, slip.text.includes('differs by'), slip.text.includes('value="9000"')]).toEqual([
      400,
      true,
      true,
    ])
    await console.act('/prices', 'rate set', { ...pair, rate: '9000', isForced: 'yes' })
    const effectiveAt = '2099-01-01T00:00:00.000Z'
    await console.act('/prices', 'rate set', { ...pair, rate: '9100', effectiveAt })
    await console.act('/prices', 'rate cancel', {}, `USDC NGN ${effectiveAt}`)
    const listed = (await rates.list(app.service, pair)).items.map(({ rate, state }) => [rate, state])
    expect(listed.slice(0, 2)).toEqual([
      ['9100', 'CANCELLED'],
      ['9000', 'IN_FORCE'],
    ])
    await console.act('/prices', 'fee set', { assetCode: 'USDC', recipientCurrency: 'ZAR', flat: '1.5', effectiveAt })
    await console.act('/prices', 'fee cancel', {}, `USDC ZAR ${effectiveAt}`)
    expect((await fees.list(app.service, {})).items).toMatchObject([{ flat: 150_000_000n, state: 'CANCELLED' }])
    expect((await console.kept()).map(({ action, subject }) => `${action}: ${subject}`)).toEqual([
      'rate set: USDC NGN',
      'rate set: USDC NGN',
      'rate cancel: USDC NGN',
      'fee set: USDC ZAR',
      'fee cancel: USDC ZAR',
    ])
  })

  test('`deposit resolve` resolves a deposit in the attention queue', async () => {
    const { app, console, walletId } = await start(engine)
    const ref = await refOf(app, walletId)
    const transfer = { network: 'solana', tx_hash: '5'.repeat(88), log_index: 0 }
    await postReport(app, sampleReport(ref, { ...transfer, confirmations: 100 }))
    await postReport(app, sampleReport(ref, { ...transfer, confirmations: 0, state: 'REORGED' }))
    const [deposit] = await listDepositAttention(app.service, {})
    const reference = deposit?.reference ?? ''
    const refused = await console.act('/attention', 'deposit resolve', { action: 'dismiss' }, reference)
    expect([refused.status, refused.text.includes('Decision must be credit')]).toEqual([400, true])
    await console.act('/attention', 'deposit resolve', { action: 'credit' }, reference)
    expect(await console.kept()).toMatchObject([
      { action: 'deposit resolve', subject: reference, details: { action: 'credit' } },
    ])
    expect((await console.get('/attention')).text).toContain('No deposit needs attention.')
  })

  test('a form without a reason changes nothing and keeps the values that were entered', async () => {
    const { app, console } = await start(engine)
    const before = await readStoredRows(app)
    for (const reason of ['', '   ', 'x'.repeat(256), 'hidden \u202e text']) {
      const response = await console.act('/prices', 'rate set', {
        fromCode: 'USDC',
        toCode: 'NGN',
        rate: '1501',
        reason,
      })
      expect(response.status).toBe(400)
      expect(response.text).toContain('<strong>Not done.</strong> Reason must')
      expect(textOf(response.text)).toContain('value="1501"')
      expect(response.text).toMatch(/name="reason"[^>]*aria-invalid="true"/)
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('a form that is submitted twice, sequentially or concurrently, runs its action once', async () => {
    const { app, console, context } = await start(engine)
    const webhookId = await endpointOf(app)
    const path = `/webhooks/${webhookId}`
    const form = { ...(await console.form(path, 'webhook test')), reason: 'to see' }
    const responses = await Promise.all([1, 2, 3].map(() => console.post(path, form)))
    expect(responses.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(new Set(responses.map(({ headers }) => headers.location)).size).toBe(1)
    const { items } = await listEvents(context, {})
    expect(items.filter(({ type }) => type === 'webhook.test')).toHaveLength(1)
    expect(await console.kept()).toHaveLength(1)
  })

  test('the audit runs on request and shows its findings', async () => {
    const { app, console } = await start(engine)
    const { text } = await console.get('/books')
    const [, form = ''] =
      /name="_action" value="look"><input type="hidden" name="_form" value="([^"]*)"/.exec(text) ?? []
    expect((await console.post('/books', { _action: 'look', _form: 'made up' })).status).toBe(403)
    expect((await console.post('/books', { _action: 'look', _form: form })).status).toBe(303)
    const after = await console.get('/books')
    expect(after.text).toContain('The books balance.')
    expect(after.text).toContain('every balance equals the sum of its ledger entries')
    expect(await console.kept()).toEqual([])
    await app.expectBooksToBalance()
  })
})
