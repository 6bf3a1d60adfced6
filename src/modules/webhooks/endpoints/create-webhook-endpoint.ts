import { z } from 'zod'
import { Refusal } from '../../../core/errors.ts'
import { optional, parse } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import { newRow } from '../../../lists/sequence.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { latestOf } from '../../outbox/latest-event.ts'
import { newSigning, withSecret } from './endpoint-secrets.ts'
import { urlFaults } from './endpoint-url.ts'
import { countOfEndpoints, insertWebhookEndpoint } from './repository.ts'
import type { KeyedWebhookEndpoint } from './webhook-endpoint.ts'
import { endpointFields } from './webhook-endpoint-input.ts'

/** How many endpoints a merchant may have (ruling 70). */
const mostEndpoints = 50

export const CreateWebhookEndpointInput = z.object({
  ...endpointFields,
  asymmetric: optional(z.boolean()).transform((isAsymmetric) => isAsymmetric ?? false),
})

/**
 * Registers where the merchant wants to be told of its events, from the next on. The same URL may be registered twice.
 *
 * @param input without `types` it is told of all; `asymmetric` has what it gets signed with an ed25519 key besides
 * @returns the endpoint with its secret, which is shown here and at a rotation only
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, WEBHOOK_LIMIT_REACHED, NOT_CONFIGURED
 */
export async function createWebhookEndpoint(
  context: Context,
  input: z.input<typeof CreateWebhookEndpointInput>,
): Promise<Done<KeyedWebhookEndpoint>> {
  const request = parse(CreateWebhookEndpointInput, input, urlFaults(context, input.url))
  const { asymmetric, ...details } = request
  const { result, isReplayed } = await once(context, 'createWebhookEndpoint', request, async (tx) => {
    // Whoever has the number is alone, so the endpoints that are counted are all there are.
    const row = await newRow(tx, context, 'webhook_endpoints')
    await requireRoom(tx, context)
    const endpoint = {
      ...row,
      ...details,
      ...untried,
      ...newSigning(context, row, asymmetric),
      cursor: await latestOf({ db: tx, merchantId: context.merchantId }),
    }
    await insertWebhookEndpoint(tx, endpoint)
    return endpoint
  })
  return { result: withSecret(context, result), isReplayed }
}

/** One to which nothing was sent since it was last enabled. */
export const untried = {
  status: 'enabled',
  disabledReason: null,
  failures: 0,
  failingSince: null,
  probeAt: null,
} as const

/** @throws Refusal WEBHOOK_LIMIT_REACHED */
async function requireRoom(tx: Tx, { merchantId }: Context): Promise<void> {
  const count = Number((await countOfEndpoints(tx, { merchantId }))?.count ?? 0)
  if (count < mostEndpoints) return
  const message = `The merchant has ${count} webhook endpoints, and may have ${mostEndpoints}: delete one first.`
  throw new Refusal('WEBHOOK_LIMIT_REACHED', message)
}
