import { webhookEventReferences } from '../../modules/events/webhook-events.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import type { JsonSchemas } from './schema-sample.ts'
import { sampleOf } from './schema-sample.ts'

/** What the document says of a kind of post to the endpoints of merchants. */
export type OpenApiWebhook = ReturnType<typeof openapiWebhook>

/**
 * The posts to endpoints, by the type of event; those of the format `stablestack`, which is another, by `stablestack:` and the
 * type. The examples are made of the schemas, as all others are.
 *
 * @param hoisted puts a schema among the `schemas` of the document
 */
export function openapiWebhooks(
  schemas: JsonSchemas,
  hoisted: (schema: JsonSchema) => JsonSchema,
): Record<string, { post: OpenApiWebhook }> {
  return Object.fromEntries(
    webhookEventReferences.flatMap(({ type, description, envelope, stablestack }) => {
      const data = sampleOf(envelope.properties?.data ?? {}, schemas)
      const thin = sampleOf(envelope, schemas) as object
      const own = openapiWebhook(
        { name: type, description, schema: hoisted(envelope) },
        { standard: { ...thin, data }, thin },
      )
      if (stablestack === null) return [[type, { post: own }]]
      const name = `stablestack:${type}`
      const examples = { stablestack: sampleOf(stablestack, schemas) }
      const theirs = openapiWebhook({ name, description, schema: hoisted(stablestack) }, examples)
      return [
        [type, { post: own }],
        [name, { post: theirs }],
      ] as const
    }),
  )
}

type WebhookSummary = { readonly name: string; readonly description: string; readonly schema: JsonSchema }

function openapiWebhook({ name, description, schema }: WebhookSummary, examples: Readonly<Record<string, unknown>>) {
  return {
    summary: name,
    description,
    // Who posts is known by the signature.
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
      '2XX': { description: 'It has arrived. Answer at once, and work afterwards: 15 seconds are all there is.' },
      410: { description: 'The endpoint is no more: it is disabled at once.' },
      default: { description: 'Anything else, a redirect too, is tried again: ten times within about three days.' },
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

/** The headers of every post, in each format: those of Standard Webhooks 1.0.0. */
export const webhookHeaders = {
  WebhookId: header(
    'webhook-id',
    'The id of the event, the same at each attempt: what comes again is known by it.',
    'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2',
  ),
  WebhookTimestamp: header(
    'webhook-timestamp',
    'When this attempt was made, in seconds since 1970: refuse what is more than five minutes away.',
    '1772443800',
  ),
  WebhookSignature: header(
    'webhook-signature',
    'One or more signatures, separated by spaces, over `{webhook-id}.{webhook-timestamp}.{body}`; one that is valid is enough. `v1,` and HMAC-SHA256 in base64, by the 32 bytes that stand in base64 after `whsec_`; after a rotation also by the secret of before. `v1a,` and an ed25519 signature in base64, where the endpoint asks for it: the keys that verify it are at `/.well-known/webhook-keys`.',
    `v1,${'Xb0p'.repeat(10)}Xb0=`,
  ),
}
