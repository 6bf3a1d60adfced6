import { expect, onTestFinished, test } from 'vitest'
import { startBackgroundJobs } from '../../src/app/background-jobs.ts'
import { readConfig } from '../../src/app/config.ts'
import { timestamp } from '../../src/core/ids-and-clock.ts'
import { storeDelivery } from '../../src/modules/webhooks/dispatcher/repository.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { disableWebhookEndpoint } from '../../src/modules/webhooks/endpoints/disable-webhook-endpoint.ts'
import { webhookDeliveries } from '../../src/modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { noInstrumentation } from '../../src/observability/metrics/instrumentation.ts'
import { everyEngine, loggerOfPlanFaults, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'

const dayMs = 24 * 3_600_000

test.each(everyEngine)(
  'the background jobs remove webhook deliveries that are older than 30 days on %s',
  async (engine) => {
    let time = Date.parse('2026-03-01T10:00:00.000Z')
    const app = await startApp(engine, { clock: () => time })
    const context = app.context()
    const { merchantId } = context
    const { id: endpointId } = await perform(createWebhookEndpoint, context, { url: 'https://example.com/hooks' })
    // The jobs send nothing to a disabled endpoint.
    await perform(disableWebhookEndpoint, context, { webhookId: endpointId })
    const objectId = await app.customer()
    const delivery = { merchantId, endpointId, sequence: 1, objectId, createdAt: timestamp(context.now()) }
    const outcome = { status: 'delivered', attempts: 1, attemptsBefore: 0, nextAttemptAt: null } as const
    await app.db.write((tx) => storeDelivery(tx, { ...delivery, ...outcome }))
    time += 31 * dayMs
    await app.customer()
    const countDeliveries = async () => {
      const slices = await webhookDeliveries.slicesOf('endpoint')(context, [endpointId], { first: 10 })
      return slices.get(endpointId)?.items.length
    }
    expect(await countDeliveries()).toBe(1)

    const options = { logger: loggerOfPlanFaults(), measuring: noInstrumentation }
    const jobs = startBackgroundJobs(readConfig({ DATABASE_URL: app.url }), app.service, options)
    onTestFinished(() => jobs.stop().then(() => {}))
    await expect.poll(countDeliveries).toBe(0)
  },
)
