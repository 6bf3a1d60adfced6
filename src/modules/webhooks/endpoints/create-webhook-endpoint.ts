import { z } from 'zod'
import { DomainError } from '../../../core/errors.ts'
import { optional, parseInput } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import { newRowFields } from '../../../lists/sequence.ts'
import type { Context, IdempotentResult } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { latestEventSequence } from '../../outbox/read-events.ts'
import { findUrlFieldErrors } from '../transport/destination-policy.ts'
import { createSigningKeys, revealSecret } from './endpoint-secrets.ts'
import { countEndpoints, insertWebhookEndpoint } from './repository.ts'
import type { KeyedWebhookEndpoint } from './webhook-endpoint.ts'
import { endpointFields } from './webhook-endpoint.ts'

/** Ruling 70. */
const maxEndpoints = 50

const CreateWebhookEndpointInput = z.object({
  ...endpointFields,
  asymmetric: optional(z.boolean()).transform((isAsymmetric) => isAsymmetric ?? false),
})

/**
 * The same URL may be registered twice.
 *
 * @param input if `types` is absent, all events are sent; if `asymmetric` is true, requests are also signed with an
 *   ed25519 key
 * @returns the endpoint with its secret; no later response contains the secret
 */
export const createWebhookEndpoint = defineOperation(
  {
    name: 'createWebhookEndpoint',
    input: CreateWebhookEndpointInput,
    scope: 'webhooks',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['WEBHOOK_LIMIT_REACHED', 'NOT_CONFIGURED'],
  },
  async (context, input): Promise<IdempotentResult<KeyedWebhookEndpoint>> => {
    const request = parseInput(CreateWebhookEndpointInput, input, findUrlFieldErrors(context, input.url))
    const { asymmetric, ...details } = request
    const { result, isReplayed } = await runOnce(context, 'createWebhookEndpoint', request, async (tx) => {
      // `newRowFields` locks the sequence, so that no other endpoint can be created between the count and the insert.
      const row = await newRowFields(tx, context, 'webhook_endpoints')
      await requireEndpointCapacity(tx, context)
      const endpoint = {
        ...row,
        ...details,
        ...initialHealth,
        ...createSigningKeys(context, row, asymmetric),
        cursor: await latestEventSequence({ db: tx, merchantId: context.merchantId }),
      }
      await insertWebhookEndpoint(tx, endpoint)
      return endpoint
    })
    return { result: revealSecret(context, result), isReplayed }
  },
)

export const initialHealth = {
  status: 'enabled',
  disabledReason: null,
  failures: 0,
  failingSince: null,
  probeAt: null,
} as const

async function requireEndpointCapacity(tx: Tx, { merchantId }: Context): Promise<void> {
  const count = Number((await countEndpoints(tx, { merchantId }))?.count ?? 0)
  if (count < maxEndpoints) return
  const message = `The merchant has ${count} webhook endpoints, and may have ${maxEndpoints}: delete one first.`
  throw new DomainError('WEBHOOK_LIMIT_REACHED', message)
}
