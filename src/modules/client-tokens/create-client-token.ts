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

/** Seconds for which a token is valid by default. */
export const defaultTokenSeconds = 15 * 60
const minTokenSeconds = 60

const CreateClientTokenInput = z.object({
  customerId: optionalUuid(),
  scopes: someOf(scopes),
  expiresIn: optional(z.number().int().min(minTokenSeconds).max(maxTokenSeconds)),
})

/** What a page is handed: what it sends, and what that is good for. */
export type ClientToken = {
  readonly token: string
  readonly expiresAt: string
  readonly scopes: readonly Scope[]
  readonly customerId: string | null
}

/**
 * Makes a token with which a page acts as the merchant or as one of its customers, for a while; nothing is stored. It ends
 * with its time or with the API key that it was made with, whichever is first.
 *
 * Returns INSUFFICIENT_SCOPE for a scope that the API key lacks.
 *
 * @param input `expiresIn` in seconds, 15 minutes unless it is said; with `customerId` nothing else exists for the token
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

/** What touches more than one customer's things is for no token that acts as one. */
function scopeErrors({ customerId, scopes }: z.input<typeof CreateClientTokenInput>): FieldError[] {
  const given = Array.isArray(scopes) ? scopes : []
  const wrong = customerId != null && given.some((scope) => !(customerScopes as readonly string[]).includes(scope))
  const message = `must be among ${customerScopes.join(', ')} for a token that acts as one customer`
  return wrong ? [{ field: 'scopes', code: 'INVALID_PARAMETER', message }] : []
}

async function requireSigningKey({ db, caller }: Context) {
  const { keyId } = caller
  const key = keyId === null ? null : await apiKeyById(db, { id: keyId })
  if (!key) throw new DomainError('INVALID_TOKEN', 'A token is made with an API key.')
  return key
}
