import { expect, onTestFinished, test } from 'vitest'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { updateCustomer } from '../../../src/modules/customers/update-customer.ts'
import { eventTypes } from '../../../src/modules/outbox/event.ts'
import { deletePayoutMethod } from '../../../src/modules/payout-methods/delete-payout-method.ts'
import { updateBankPayoutMethod } from '../../../src/modules/payout-methods/update-bank-payout-method.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { cancelPayout } from '../../../src/modules/rails/orders/cancel-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import { startDispatcher } from '../../../src/modules/webhooks/dispatcher/dispatcher.ts'
import { noLeases } from '../../../src/modules/webhooks/dispatcher/leases.ts'
import { supportedEventTypes, webhookFormats } from '../../../src/modules/webhooks/transport/formats.ts'
import { createSender } from '../../../src/modules/webhooks/transport/send.ts'
import { openapiDocument } from '../../../src/server/pages/openapi.ts'
import { endpointGroups } from '../../../src/server/rest/routes.ts'
import { valueFaults } from '../../rest/openapi-faults.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { bankMethodBody } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import { createRailPayout } from '../rails/support/rail-payouts.ts'
import { unthrottled } from '../webhooks/dispatcher/support/world.ts'
import type { Received } from '../webhooks/transport/support/receiver.ts'
import { startReceiver } from '../webhooks/transport/support/receiver.ts'

const document = openapiDocument(endpointGroups, 'sandbox')

test.each(everyEngine.slice(0, 1))(
  'on %s, the webhook of every event type matches the OpenAPI document in each format',
  async (engine) => {
    const app = await startApp(engine)
    let isComplete = () => {}
    const all = new Promise<void>((resolve) => {
      isComplete = resolve
    })
    const posts = new Map<string, Received>()
    const receiver = await startReceiver((response, post) => {
      response.writeHead(post.url === '/gone' ? 410 : 204).end()
      const { type, event_type } = JSON.parse(post.body)
      posts.set(`${post.url?.slice(1)} ${type ?? event_type}`, post)
      if (expected.every((each) => posts.has(each))) isComplete()
    })
    const expected = webhookFormats.flatMap((format) => sentTypesOf(format).map((type) => `${format} ${type}`))
    const create = async (path: string, format: string) => {
      const body = { url: `http://127.0.0.1:${receiver.port}/${path}`, format }
      return (await app.rest('POST', '/api/webhooks', { body })).body.data.id as string
    }
    const endpointIds = await Promise.all(webhookFormats.map((format) => create(format, format)))
    const dispatcher = startDispatcher({
      service: app.service,
      sender: createSender({ mode: 'sandbox', allowlistEntries: [] }),
      leases: noLeases,
      throttle: unthrottled,
      onError: (error) => {
        throw error
      },
    })
    onTestFinished(() => dispatcher.stop())

    await triggerAllEvents(app)
    for (const id of endpointIds) await app.rest('POST', `/api/webhooks/${id}/test`)
    const goneEndpointId = await create('gone', 'standard')
    await app.rest('POST', `/api/webhooks/${goneEndpointId}/test`)
    await all

    for (const key of expected) {
      const [format = '', type = ''] = key.split(' ')
      const { headers, body } = posts.get(key) as Received
      const name = format === 'stablestack' ? `stablestack:${type}` : type
      const { parameters, requestBody } = document.webhooks[name]?.post ?? {}
      const { schema, examples } = requestBody?.content['application/json'] ?? { schema: {}, examples: {} }
      const example = examples[format]?.value as object
      const value = JSON.parse(body)
      expect([key, valueFaults(document, schema, value)]).toEqual([key, []])
      expect([key, valueFaults(document, schema, example)]).toEqual([key, []])
      expect([key, memberNames(example)]).toEqual([key, memberNames(value)])
      expect(parameters).toHaveLength(3)
      for (const { $ref } of parameters ?? []) {
        const { name } = document.components.parameters[$ref.split('/').at(-1) as 'WebhookId']
        expect(headers).toHaveProperty(name)
      }
    }
    expect(Object.keys(document.webhooks).sort()).toEqual(
      [...eventTypes, ...sentTypesOf('stablestack').map((type) => `stablestack:${type}`)].sort(),
    )
  },
)

function sentTypesOf(format: (typeof webhookFormats)[number]): readonly string[] {
  const sent = eventTypes.filter((type) => supportedEventTypes(format)?.includes(type) ?? true)
  return format === 'stablestack' ? [...sent, 'payout.cancelled'] : sent
}

/** Triggers every event type of a merchant except those of webhook endpoints. */
async function triggerAllEvents(app: App): Promise<void> {
  const customerId = await app.customer()
  await perform(updateCustomer, app.context(), { customerId, firstName: 'Ngozi' })
  await perform(closeCustomer, app.context(), { customerId })
  const walletId = await app.wallet({ balance: '1000' })
  await depositToWallet(app.context(), { walletId, amount: '1', reference: 'bank 7' })
  await reverseDeposit(app.context(), { reference: 'bank 7', reason: 'sent twice' })
  const { body } = await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
  const method = { payoutMethodId: body.data.id }
  await perform(updateBankPayoutMethod, app.context(), { ...method, accountName: 'Ngozi Obi' })
  await perform(deletePayoutMethod, app.context(), method)
  for (const path of [['FAILED'], ['COMPLETED', 'RETURNED']] as const) {
    const paid = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
    for (const status of path) await settlePayout(app.context(), { payoutId: paid.body.data.id, status })
  }
  const { id: payoutId } = await createRailPayout(app.context())
  await perform(cancelPayout, app.context(), { payoutId })
}

function memberNames(value: { object?: object; data?: object }): string[][] {
  return [value, value.object ?? {}, value.data ?? {}].map((each) => Object.keys(each))
}
