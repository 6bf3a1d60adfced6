import { enumDescription } from '../core/api/enum-descriptions.ts'
import { invalidInput } from '../core/errors.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { disableWebhookEndpoint } from '../modules/webhooks/endpoints/disable-webhook-endpoint.ts'
import { enableWebhookEndpoint, webhookStartPositions } from '../modules/webhooks/endpoints/enable-webhook-endpoint.ts'
import { replayWebhookEvents } from '../modules/webhooks/endpoints/replay-webhook-events.ts'
import { rotateWebhookSecret } from '../modules/webhooks/endpoints/rotate-webhook-secret.ts'
import { testWebhookEndpoint } from '../modules/webhooks/endpoints/test-webhook-endpoint.ts'
import type { Context } from '../operations/context.ts'
import type { ActionInput, ConsoleAction, FormValues } from './console-page.ts'

const webhookIdOf = ({ params }: ActionInput) => params.webhookId ?? ''

type WebhookActionRun = (context: Context, webhookId: string, given: FormValues) => Promise<unknown>

/** What is done to the endpoint that a page shows. */
function webhookAction(declared: Omit<ConsoleAction, 'subject' | 'run'>, run: WebhookActionRun): ConsoleAction {
  return {
    ...declared,
    subject: webhookIdOf,
    run: async (service, on) => {
      const webhookId = webhookIdOf(on)
      await run(await createOwnerContext(service, 'webhook', webhookId), webhookId, on.values)
      return undefined
    },
  }
}

export const enableWebhookAction = webhookAction(
  {
    name: 'webhook enable',
    title: 'Enable',
    text: 'Has events sent to the endpoint; what waits for another attempt is tried at once.',
    fields: [
      {
        name: 'from',
        label: 'From where',
        options: webhookStartPositions.map((start) => [
          start,
          `${start}: ${enumDescription(webhookStartPositions, start)}`,
        ]),
      },
    ],
  },
  (context, webhookId, { from }) => enableWebhookEndpoint(context, { webhookId, from: from as 'now' }),
)

export const disableWebhookAction = webhookAction(
  { name: 'webhook disable', title: 'Disable', text: 'Stops what is sent to the endpoint until it is enabled.' },
  (context, webhookId) => disableWebhookEndpoint(context, { webhookId }),
)

export const testWebhookAction = webhookAction(
  { name: 'webhook test', title: 'Test', text: 'Has an event webhook.test sent to the endpoint, and to no other.' },
  (context, webhookId) => testWebhookEndpoint(context, { webhookId }),
)

export const replayEventsAction = webhookAction(
  {
    name: 'webhook replay',
    title: 'Replay events',
    text: 'Sends events again, whatever became of them: all after a number, or since a time. Give one of both.',
    fields: [
      {
        name: 'after',
        label: 'After number',
        hint: 'The number of the last event that is not sent again.',
        isOptional: true,
      },
      { name: 'since', label: 'Since', hint: 'Such as 2026-01-31T08:30:00Z.', isOptional: true },
    ],
    names: { eventId: 'after' },
  },
  (context, webhookId, { after, since }) =>
    replayWebhookEvents(context, { webhookId, after: after ? parseSequence(after) : undefined, since }),
)

export const replayEventAction: ConsoleAction = {
  ...webhookAction(
    {
      name: 'webhook replay event',
      command: 'webhook replay',
      title: 'Send again',
      text: 'Sends this event again, whatever became of it.',
    },
    async () => {},
  ),
  run: async (service, on) => {
    const webhookId = webhookIdOf(on)
    await replayWebhookEvents(await createOwnerContext(service, 'webhook', webhookId), {
      webhookId,
      eventId: on.target,
    })
    return undefined
  },
}

export const rotateWebhookSecretAction: ConsoleAction = {
  ...webhookAction(
    {
      name: 'webhook rotate',
      title: 'Rotate the secret',
      text: 'Gives the endpoint a new secret, which is shown once; the old one signs for another 24 hours.',
    },
    async () => {},
  ),
  run: async (service, on) => {
    const webhookId = webhookIdOf(on)
    const { result } = await rotateWebhookSecret(await createOwnerContext(service, 'webhook', webhookId), { webhookId })
    return {
      name: 'Signing secret',
      secret: result.secret,
      advice: 'It is not shown again: give it to whoever verifies what is sent.',
    }
  },
}

/** @throws Refusal INVALID_INPUT */
function parseSequence(text: string): number {
  if (/^\d{1,9}$/.test(text.trim())) return Number(text)
  throw invalidInput([{ field: 'after', code: 'INVALID_FORMAT', message: 'must be a whole number' }])
}
