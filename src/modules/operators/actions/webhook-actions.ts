import { enumDescription } from '../../../core/api/enum-descriptions.ts'
import type { Context } from '../../../operations/context.ts'
import { disableWebhookEndpoint } from '../../webhooks/endpoints/disable-webhook-endpoint.ts'
import { enableWebhookEndpoint, webhookStartPositions } from '../../webhooks/endpoints/enable-webhook-endpoint.ts'
import { replayWebhookEvents } from '../../webhooks/endpoints/replay-webhook-events.ts'
import { rotateWebhookSecret } from '../../webhooks/endpoints/rotate-webhook-secret.ts'
import { testWebhookEndpoint } from '../../webhooks/endpoints/test-webhook-endpoint.ts'
import type { WebhookEndpoint } from '../../webhooks/endpoints/webhook-endpoint.ts'
import { createOwnerContext } from '../owner-context.ts'
import type { ActionDeclaration, ActionField, ActionValues } from './action-declaration.ts'
import { parseWholeNumber } from './action-declaration.ts'

const webhookIdField: ActionField = { name: 'webhookId', typed: '<webhook id>' }

type WebhookActionSpec = Omit<ActionDeclaration, 'fields' | 'subject' | 'run'> & {
  readonly fields?: readonly ActionField[]
  readonly call: (
    context: Context,
    webhookId: string,
    values: ActionValues,
  ) => Promise<{ readonly result: WebhookEndpoint & { readonly secret?: string } }>
}

function webhookAction({ fields = [], call, ...texts }: WebhookActionSpec): ActionDeclaration {
  return {
    ...texts,
    fields: [webhookIdField, ...fields],
    subject: ['webhookId'],
    run: async (service, { webhookId = '', ...values }) => {
      const context = await createOwnerContext(service, 'webhook', webhookId)
      return endpointRow((await call(context, webhookId, values)).result)
    },
  }
}

export function endpointRow<Endpoint extends WebhookEndpoint>(endpoint: Endpoint) {
  const { merchantId: _, sequence: __, probeAt: ___, cursor, types, ...shown } = endpoint
  return { ...shown, types: types.join(' '), sentUpTo: cursor }
}

export const rotateWebhookSecretAction = webhookAction({
  name: 'webhook rotate',
  title: 'Rotate the secret',
  summary:
    'Replace the secret of a webhook endpoint. Shows the new secret once. Requests are signed with both secrets until the overlap ends.',
  formText:
    'Replace the secret of the endpoint. The new one is shown once; the old one also signs for another 24 hours.',
  fields: [{ name: 'overlapHours', typed: '--overlap <hours>', help: 'how long the old one also signs, default 24' }],
  secret: {
    name: 'Signing secret',
    field: 'secret',
    advice: 'It is not shown again: give it to the team that verifies the deliveries.',
  },
  call: (context, webhookId, { overlapHours }) =>
    rotateWebhookSecret(context, { webhookId, overlapHours: parseOptionalNumber('overlapHours', overlapHours) }),
})

export const testWebhookAction = webhookAction({
  name: 'webhook test',
  title: 'Test',
  summary: 'Send a test event to a webhook endpoint. The outcome is in the deliveries of the endpoint.',
  call: (context, webhookId) => testWebhookEndpoint(context, { webhookId }),
})

export const enableWebhookAction = webhookAction({
  name: 'webhook enable',
  title: 'Enable',
  summary: 'Enable a webhook endpoint. Resumes where it stopped, unless another start is given.',
  fields: [
    {
      name: 'from',
      typed: '--from <start>',
      help: 'resume (default): send the missed events; now: skip them',
      label: 'Start',
      options: webhookStartPositions.map((each) => [each, `${each}: ${enumDescription(webhookStartPositions, each)}`]),
      isRequiredInForm: true,
    },
    { name: 'after', typed: '--after <sequence>', help: 'send all events after this one' },
  ],
  call: (context, webhookId, { from, after }) =>
    enableWebhookEndpoint(context, { webhookId, from: from as 'now', after: parseOptionalNumber('after', after) }),
})

export const disableWebhookAction = webhookAction({
  name: 'webhook disable',
  title: 'Disable',
  summary: 'Disable a webhook endpoint. Sends nothing to it until it is enabled.',
  call: (context, webhookId) => disableWebhookEndpoint(context, { webhookId }),
})

const replaySpec: WebhookActionSpec = {
  name: 'webhook replay',
  title: 'Replay events',
  summary: 'Send events to a webhook endpoint again. Requires one of --event, --after and --since.',
  fields: [
    { name: 'eventId', typed: '--event <event id>', help: 'this event' },
    {
      name: 'after',
      typed: '--after <sequence>',
      help: 'all events after this one',
      label: 'After sequence',
      hint: 'The sequence of the last event that is not sent again.',
    },
    {
      name: 'since',
      typed: '--since <time>',
      help: 'all events since then',
      label: 'Since',
      hint: 'In UTC.',
      isTime: true,
    },
  ],
  call: (context, webhookId, { eventId, after, since }) =>
    replayWebhookEvents(context, { webhookId, eventId, after: parseOptionalNumber('after', after), since }),
}

export const replayEventsAction = webhookAction({
  ...replaySpec,
  formText: 'Send events again, delivered or not: all after a sequence, or all since a time. Fill in one of the two.',
  errorFields: { eventId: 'after' },
})

export const replayEventAction = webhookAction({
  ...replaySpec,
  formName: 'webhook replay event',
  title: 'Send again',
  formText: 'Send this event again, delivered or not.',
  fields: [{ name: 'eventId', typed: '--event <event id>' }],
  rowFields: ['eventId'],
})

function parseOptionalNumber(field: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseWholeNumber(field, text)
}
