import { enumDescription } from '../../core/api/enum-descriptions.ts'
import type { EventType } from '../../database/tables.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import { integer, plainText } from '../../rest/json-types.ts'
import { eventTypes, objectTypeOf } from '../outbox/event.ts'
import type { TransactionStatus } from '../transactions/wallet-transaction.ts'
import { cancelledPayoutType, isEventTypeSupported } from '../webhooks/transport/formats.ts'
import { event, objectShapes } from './event-shape.ts'
import { stablestackTransaction } from './stablestack-shape.ts'

export type WebhookEventReference = {
  readonly type: EventType
  readonly description: string
  /** The webhook body in the format `standard`. The format `thin` omits `data`. */
  readonly envelope: JsonSchema
  /** The webhook body in the format `stablestack`, by event type. The map is empty if the format lacks the event. */
  readonly stablestack: ReadonlyMap<string, JsonSchema>
}

const eventExamples: {
  readonly [Type in EventType]: { readonly version: number; readonly fixed?: Readonly<Record<string, string>> }
} = {
  'payout.initiated': { version: 1, fixed: { status: 'PROCESSING' } },
  'payout.completed': { version: 2, fixed: { status: 'COMPLETED' } },
  'payout.failed': { version: 2, fixed: { status: 'FAILED' } },
  'payout.returned': { version: 3, fixed: { status: 'RETURNED' } },
  'wallet.transaction.inbound': { version: 1 },
  'deposit.reversed': { version: 1 },
  'wallet.created': { version: 1 },
  'customer.created': { version: 1 },
  'customer.updated': { version: 2 },
  'customer.closed': { version: 3, fixed: { status: 'closed' } },
  'payout_method.created': { version: 1 },
  'payout_method.updated': { version: 2 },
  'payout_method.deleted': { version: 3 },
  'webhook_endpoint.disabled': { version: 1, fixed: { status: 'disabled' } },
  'webhook.test': { version: 1 },
}

/** The event types of the format `stablestack`, with the transaction status of each event type. */
const stablestackStatuses: { readonly [Type in EventType]?: Readonly<Record<string, TransactionStatus>> } = {
  'payout.initiated': { 'payout.initiated': 'PROCESSING' },
  'payout.completed': { 'payout.completed': 'COMPLETED' },
  'payout.failed': { 'payout.failed': 'FAILED', [cancelledPayoutType]: 'CANCELLED' },
  'wallet.transaction.inbound': { 'wallet.transaction.inbound': 'COMPLETED' },
}

export const webhookEventReferences: readonly WebhookEventReference[] = eventTypes.map((type) => {
  const description = enumDescription(eventTypes, type)
  const data = dataSchema(type)
  return {
    type,
    description,
    envelope: { ...envelopeSchema(type, data), title: schemaTitle(type), description },
    stablestack: stablestackSchemas(type, { data, description }),
  }
})

function stablestackSchemas(
  type: EventType,
  { data, description }: { data: JsonSchema; description: string },
): ReadonlyMap<string, JsonSchema> {
  if (!isEventTypeSupported('stablestack', type)) return new Map()
  const { [type]: statuses } = stablestackStatuses
  const own = (name: string, ownData: JsonSchema) =>
    [name, { ...stablestackSchema(name, ownData), title: `Stablestack${schemaTitle(name)}`, description }] as const
  if (statuses === undefined) return new Map([own(type, data)])
  return new Map(Object.entries(statuses).map(([name, status]) => own(name, transactionSchema(type, status))))
}

function transactionSchema(type: EventType, status: TransactionStatus): JsonSchema {
  const { title: _, ...schema } = stablestackTransaction.schema
  const isPayout = objectTypeOf(type) === 'payout'
  return withProperties(schema, [
    ['transaction_type', restrictTo(schema.properties?.transaction_type, isPayout ? 'PAYOUT' : 'DEPOSIT')],
    ['transaction_mode', restrictTo(schema.properties?.transaction_mode, isPayout ? 'DEBIT' : 'CREDIT')],
    ['status', restrictTo(schema.properties?.status, status)],
  ])
}

function schemaTitle(type: string): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Event`
}

function dataSchema(type: EventType): JsonSchema {
  const { schema } = objectShapes[objectTypeOf(type)]
  const { fixed } = eventExamples[type]
  if (fixed === undefined) return schema
  // Two different schemas must not have the same title.
  const { title: _, ...own } = schema
  return withProperties(
    own,
    Object.entries(fixed).map(([name, value]) => [name, restrictTo(own.properties?.[name], value)]),
  )
}

function envelopeSchema(type: EventType, data: JsonSchema): JsonSchema {
  const { object = {}, ...members } = event.schema.properties ?? {}
  const { type: kind, version } = object.properties ?? {}
  const objectSchema = withProperties(object, [
    ['type', restrictTo(kind, objectTypeOf(type))],
    ['version', { ...version, examples: [eventExamples[type].version] }],
  ])
  const envelope = withProperties(event.schema, [
    ['type', restrictTo(members.type, type)],
    ['object', objectSchema],
    ['data', data],
  ])
  return { ...envelope, required: event.schema.required?.filter((name) => name !== 'data') ?? [] }
}

function stablestackSchema(type: string, data: JsonSchema): JsonSchema {
  const { id = {}, type: eventType } = event.schema.properties ?? {}
  const attemptTime = 1_772_443_800_000
  return {
    type: 'object',
    properties: {
      id,
      timestamp: integer('When this attempt was made, in milliseconds since 1970.', attemptTime).schema,
      event_type: restrictTo(eventType, type),
      signature: plainText(
        '`t` is this time, and `s` the hexadecimal HMAC-SHA256 of the time, a point, and the body without this member as written by JSON.stringify. The key is the whole text of the secret.',
        `t=${attemptTime},s=${'5d'.repeat(32)}`,
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

function restrictTo(schema: JsonSchema | undefined, value: string): JsonSchema {
  return { ...schema, enum: [value], examples: [value] }
}
