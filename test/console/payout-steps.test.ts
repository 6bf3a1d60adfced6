import { describe, expect, test } from 'vitest'
import { insertRow } from '../../src/database/query.ts'
import { eventsAfter } from '../../src/modules/outbox/repository.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import { createContradictedPayout } from '../modules/rails/support/rail-payouts.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { foreignScript, openConsole, textOf } from './support/open-console.ts'

const insertDelivery = insertRow('webhookDeliveries')
const insertAttempt = insertRow('webhookAttempts')

/** The steps of a payout's page as texts. */
function stepsIn(text: string): readonly string[] {
  const [, list = ''] = /<ol class="timeline">(.*?)<\/ol>/s.exec(text) ?? []
  const items = list.split('<li>').slice(1)
  return items.map((item) => textOf(item.replaceAll('<br>', ' ').replace(/<[^>]+>/g, '')).trim())
}

const without = (steps: readonly string[]) => steps.map((step) => step.replace(/^[\d-]+ [\d:]+ /, ''))

describe.each(everyEngine)('the timeline of a payout on %s', (engine) => {
  test('shows the steps of the merchant, the rail, the operator and the ledger in the order of their times', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const payoutId = await createContradictedPayout(app.context(), 'COMPLETED', 'REJECTED')
    const console = await openConsole(app)
    await console.enter()
    await console.act(`/payouts/${payoutId}`, 'attention fail', { reason: '<script>the bank rang</script>' })
    const { status, text } = await console.get(`/payouts/${payoutId}`)
    expect([status, foreignScript.test(text)]).toEqual([200, false])
    const steps = stepsIn(text)
    const times = steps.slice(1).map((step) => step.slice(0, 19))
    expect(times).toEqual(times.toSorted())
    const shown = without(steps)
    expect(shown[0]).toMatch(/ created the payout of 10\.00 USDC to /)
    for (const step of [
      /^Rail sandbox order · QUEUED/,
      /^Rail sandbox order ✓ COMPLETED/,
      /^Rail sandbox order ! ATTENTION the bank reports REJECTED for an order that was COMPLETED$/,
      /^Payout became ↩ RETURNED/,
      /^Ledger debited the wallet by 10\.00 USDC; balance 90\.00 USDC$/,
      /^Ledger credited the wallet by 10\.00 USDC; balance 100\.00 USDC$/,
      /^ada performed attention fail Reason: <script>the bank rang<\/script>$/,
    ])
      expect(shown.filter((each) => step.test(each)).length, `${step} in ${shown.join('\n')}`).toBe(1)
    expect(console.faults).toEqual([])
  })

  test('shows each webhook attempt once, and no rail steps if an operator settled the payout', async () => {
    const app = await startApp(engine)
    const context = app.context()
    await app.wallet({ balance: '100' })
    const payout = await perform(createPayout, context, { assetCode: 'USDC', amount: '10', ...nigerian })
    await settlePayout(context, { payoutId: payout.id, status: 'COMPLETED' })
    const { result: endpoint } = await createWebhookEndpoint(context, { url: 'https://example.com/hooks' })
    const events = await eventsAfter(app.db, { merchantId: app.merchant.id, after: 0, limit: 100 })
    const [event] = events.filter(({ objectId }) => objectId === payout.id)
    const key = { merchantId: app.merchant.id, endpointId: endpoint.id, sequence: event?.sequence ?? 0 }
    const createdAt = payout.createdAt
    await app.db.write(
      async (tx) => {
        const delivery = { objectId: payout.id, status: 'exhausted', attempts: 2, attemptsBefore: 0 } as const
        await insertDelivery(tx, { ...key, ...delivery, createdAt, nextAttemptAt: null })
        const attempted = { attemptedAt: createdAt, durationMs: 1, answer: null }
        await insertAttempt(tx, { ...key, attempt: 1, ...attempted, status: 500, error: null })
        await insertAttempt(tx, { ...key, attempt: 2, ...attempted, status: null, error: 'timeout' })
      },
      { merchantId: app.merchant.id },
    )
    const console = await openConsole(app)
    await console.enter()
    const shown = without(stepsIn((await console.get(`/payouts/${payout.id}`)).text))
    expect(shown.filter((step) => step.startsWith('Webhook'))).toEqual([
      expect.stringMatching(/ to https:\/\/example\.com\/hooks: answered with 500$/),
      expect.stringMatching(/ to https:\/\/example\.com\/hooks: timeout$/),
    ])
    expect(shown.filter((step) => step.startsWith('Rail'))).toEqual([])
    expect(shown.filter((step) => step.startsWith('Payout became ✓ COMPLETED'))).toHaveLength(1)
    expect(console.faults).toEqual([])
  })
})
