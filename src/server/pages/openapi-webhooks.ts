import { webhookEventReferences } from '../../modules/events/webhook-events.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import type { JsonSchemas } from './openapi-schemas.ts'
import { sampleOf } from './openapi-schemas.ts'

export type OpenApiWebhook = ReturnType<typeof openapiWebhook>

/**
 * The names of `stablestack` webhooks begin with `stablestack:`.
 *
 * @param hoist adds a schema to `schemas` and returns a reference
 */
export function openapiWebhooks(
  schemas: JsonSchemas,
  hoist: (schema: JsonSchema) => JsonSchema,
): Record<string, { post: OpenApiWebhook }> {
  return Object.fromEntries(
    webhookEventReferences.flatMap(({ type, description, envelope, stablestack }) => {
      const data = sampleOf(envelope.properties?.data ?? {}, schemas)
      const thin = sampleOf(envelope, schemas) as object
      const standard = openapiWebhook(
        { name: type, description, schema: hoist(envelope) },
        { standard: { ...thin, data }, thin },
      )
      const alternatives = [...stablestack].map(([ownType, schema]) => {
        const name = `stablestack:${ownType}`
        const examples = { stablestack: sampleOf(schema, schemas) }
        return [name, { post: openapiWebhook({ name, description, schema: hoist(schema) }, examples) }] as const
      })
      return [[type, { post: standard }] as const, ...alternatives]
    }),
  )
}

type WebhookSummary = { readonly name: string; readonly description: string; readonly schema: JsonSchema }

function openapiWebhook({ name, description, schema }: WebhookSummary, examples: Readonly<Record<string, unknown>>) {
  return {
    summary: name,
    description,
    security: [],
    parameters: Object.keys(webhookHeaders).map((each) => ({ $ref: `#/components/parameters/${each}` })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema,
          examples: Object.fromEntries(
            Object.entries(examples).map(([format, value]) => [format, { summary: `In the format ${format}.`, value }]),
          ),
        },
      },
    },
    responses: {
      '2XX': { description: 'Received. Respond within 15 seconds, and process the event afterwards.' },
      410: { description: 'The endpoint no longer exists: the service disables it immediately.' },
      default: {
        description: 'Any other status, including a redirect, is retried: ten times within about three days.',
      },
    },
  }
}

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

export const webhookHeaders = {
  WebhookId: header(
    'webhook-id',
    'The id of the event, the same for each attempt: use it to detect duplicates.',
    'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2',
  ),
  WebhookTimestamp: header(
    'webhook-timestamp',
    'The time of this attempt in seconds since 1970: reject a difference of more than five minutes.',
    '1772443800',
  ),
  WebhookSignature: header(
    'webhook-signature',
    'One or more signatures of `{webhook-id}.{webhook-timestamp}.{body}`, separated by spaces; accept the request if one is valid. `v1,` is followed by an HMAC-SHA256 in base64; its key is the 32 bytes that follow `whsec_` in the secret, in base64. After a rotation the previous secret signs too. `v1a,` is followed by an ed25519 signature in base64, if the endpoint requests it; its public keys are at `/.well-known/webhook-keys`.',
    `v1,${'Xb0p'.repeat(10)}Xb0=`,
  ),
}
