import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { DomainError } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { optional, optionalUuid, parseInput, someOf } from '../../core/input.ts'
import { insufficientScope } from '../../operations/access/api-caller.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import { customerScopes, scopes } from '../../operations/access/scopes.ts'
import type { Context, IdempotentResult } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { findCustomer } from '../customers/get-customer.ts'
import { maxTokenSeconds, signClientToken } from '../merchants/client-token.ts'
import { apiKeyById } from '../merchants/repository.ts'

const defaultTokenSeconds = 15 * 60
const minTokenSeconds = 60

const CreateClientTokenInput = z.object({
  customerId: optionalUuid(),
  scopes: someOf(scopes),
  expiresIn: optional(z.number().int().min(minTokenSeconds).max(maxTokenSeconds)),
})

export type ClientToken = {
  readonly token: string
  readonly expiresAt: string
  readonly scopes: readonly Scope[]
  readonly customerId: string | null
}

export const clientTokenDescriptions = {
  operation:
    'Creates a token with which a browser page acts as the merchant or as one of its customers for a limited time. Requires an API key. Nothing is stored, so an idempotency key has no effect.',
  customerId: 'The customer that the token acts as, and the only one it can see. Absent for the merchant itself.',
  requestedScopes: 'The scopes of the token, all of which the API key must have.',
  expiresIn: `Lifetime in seconds, 60 to 86400. The default is ${defaultTokenSeconds}.`,
  token: 'The token, a JWT. Send it in the header `Authorization`, after `Bearer`.',
  expiresAt: 'When the token expires, unless its API key is revoked or expires before.',
  scopes: 'The scopes of the token.',
  customer: 'The customer that the token acts as; null if it acts as the merchant.',
} as const

/**
 * Stores nothing. A client token is valid until the token or its API key expires, or until the API key is revoked.
 *
 * @param input `expiresIn` is in seconds, by default 15 minutes. `customerId` restricts the token to one customer.
 * @throws DomainError INSUFFICIENT_SCOPE if the API key lacks a scope of the token
 */
export const createClientToken = defineOperation(
  {
    name: 'createClientToken',
    input: CreateClientTokenInput,
    scope: 'anyApiKey',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['INVALID_TOKEN', 'INSUFFICIENT_SCOPE', 'RESOURCE_NOT_FOUND'],
  },
  async (context, input): Promise<IdempotentResult<ClientToken>> => {
    const { customerId, scopes, expiresIn } = parseInput(CreateClientTokenInput, input, scopeErrors(input))
    const key = await requireSigningKey(context)
    for (const scope of scopes) {
      if (key.scopes !== null && !key.scopes.includes(scope))
        throw insufficientScope({ ...context.caller, scopes: key.scopes }, scope)
    }
    if (customerId !== null) await findCustomer(context.db, context, customerId)
    const issuedAt = Math.floor(context.wallClock() / 1_000)
    const expiresAt = issuedAt + (expiresIn ?? defaultTokenSeconds)
    const claims = { id: context.newId(), customerId, scopes, issuedAt, expiresAt }
    const token = await signClientToken(context.secrets, key, claims)
    return { result: { token, expiresAt: timestamp(expiresAt * 1_000), scopes, customerId }, isReplayed: false }
  },
)

/** A token for one customer must not have scopes that reach the merchant or other customers. */
function scopeErrors({ customerId, scopes }: z.input<typeof CreateClientTokenInput>): FieldError[] {
  const requested = Array.isArray(scopes) ? scopes : []
  const isInvalid =
    customerId != null && requested.some((scope) => !(customerScopes as readonly string[]).includes(scope))
  const message = `must be among ${customerScopes.join(', ')} for a token that acts as one customer`
  return isInvalid ? [{ field: 'scopes', code: 'INVALID_PARAMETER', message }] : []
}

async function requireSigningKey({ db, caller }: Context) {
  const { keyId } = caller
  const key = keyId === null ? null : await apiKeyById(db, { id: keyId })
  if (!key) throw new DomainError('INVALID_TOKEN', 'Only an API key can create a client token.')
  return key
}
