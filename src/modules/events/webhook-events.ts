import { enumDescription } from '../../core/api/enum-descriptions.ts'
import type { EventType } from '../../database/tables.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import { integer, plainText } from '../../rest/json-types.ts'
import { eventTypes, objectTypeOf } from '../outbox/event.ts'
import { isEventTypeSupported } from '../webhooks/transport/formats.ts'
import { event, objectShapes } from './event-shape.ts'

/** What webhooks of a type of events carry, as the reference tells it: made of the forms in which events are answered. */
export type WebhookEventReference = {
  readonly type: EventType
  readonly description: string
  /** The formats `standard`, and `thin`, which has no `data`. */
  readonly envelope: JsonSchema
  /** The format `stablestack`; `null` where it has no such type. */
  readonly stablestack: JsonSchema | null
}

/** Which of its object's events an example is, and what is certain of the object then. */
const eventExamples: {
  readonly [Type in EventType]: { readonly version: number; readonly certain?: Readonly<Record<string, string>> }
} = {
  'payout.initiated': { version: 1, certain: { status: 'PROCESSING' } },
  'payout.completed': { version: 2, certain: { status: 'COMPLETED' } },
  'payout.failed': { version: 2, certain: { status: 'FAILED' } },
  'payout.returned': { version: 3, certain: { status: 'RETURNED' } },
  'wallet.transaction.inbound': { version: 1 },
  'deposit.reversed': { version: 1 },
  'wallet.created': { version: 1, certain: { balance: '0.00000000' } },
  'customer.created': { version: 1 },
  'customer.updated': { version: 2 },
  'customer.closed': { version: 3, certain: { status: 'closed' } },
  'payout_method.created': { version: 1 },
  'payout_method.updated': { version: 2 },
  'payout_method.deleted': { version: 3 },
  'webhook_endpoint.disabled': { version: 1, certain: { status: 'disabled' } },
  'webhook.test': { version: 1 },
}

/** What is posted of each type of events. */
export const webhookEventReferences: readonly WebhookEventReference[] = eventTypes.map((type) => {
  const description = enumDescription(eventTypes, type)
  const data = dataSchema(type)
  const title = schemaTitle(type)
  return {
    type,
    description,
    envelope: { ...envelopeSchema(type, data), title, description },
    stablestack: isEventTypeSupported('stablestack', type)
      ? { ...stablestackSchema(type, data), title: `Stablestack${title}`, description }
      : null,
  }
})

function schemaTitle(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Event`
}

function dataSchema(type: EventType): JsonSchema {
  const { schema } = objectShapes[objectTypeOf(type)]
  const { certain } = eventExamples[type]
  if (certain === undefined) return schema
  // What is certain makes it a form of its own, which is not the one that has the name.
  const { title: _, ...own } = schema
  return withProperties(
    own,
    Object.entries(certain).map(([name, value]) => [name, restrictTo(own.properties?.[name], value)]),
  )
}

function envelopeSchema(type: EventType, data: JsonSchema): JsonSchema {
  const { object = {}, ...members } = event.schema.properties ?? {}
  const { type: kind, version } = object.properties ?? {}
  const itsObject = withProperties(object, [
    ['type', restrictTo(kind, objectTypeOf(type))],
    ['version', { ...version, examples: [eventExamples[type].version] }],
  ])
  const whole = withProperties(event.schema, [
    ['type', restrictTo(members.type, type)],
    ['object', itsObject],
    ['data', data],
  ])
  return { ...whole, required: event.schema.required?.filter((name) => name !== 'data') ?? [] }
}

function stablestackSchema(type: EventType, data: JsonSchema): JsonSchema {
  const { id = {}, type: eventType } = event.schema.properties ?? {}
  const attempt = 1_772_443_800_000
  return {
    type: 'object',
    properties: {
      id,
      timestamp: integer('When this attempt was made, in milliseconds since 1970.', attempt).schema,
      event_type: restrictTo(eventType, type),
      signature: plainText(
        'The same time, and HMAC-SHA256 in hexadecimal, by the whole text of the secret, over that time, a point, and the body without this member as JSON.stringify writes it.',
        `t=${attempt},s=${'5d'.repeat(32)}`,
        { pattern: String.raw`^t=\d+,s=[0-9a-f]{64}$` },
      ).schema,
      data,
    },
    required: ['id', 'timestamp', 'event_type', 'signature', 'data'],
    additionalProperties: false,
  }
}

function withProperties(schema: JsonSchema, members: readonly (readonly [string, JsonSchema])[]): JsonSchema {
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(members) } }
}

/** A member that can have one value only. */
function restrictTo(schema: JsonSchema | undefined, value: string): JsonSchema {
  return { ...schema, enum: [value], examples: [value] }
}
