import { DomainError } from '../../core/errors.ts'
import type { Database } from '../../database/database.ts'
import type { Reader } from '../../database/query.ts'
import type { Access, Scope } from './scopes.ts'

/** Who asks, in the name of a merchant. */
export type Caller = {
  /** The API key that it bears, or that its token was made with; `null` for the service itself and its operator. */
  readonly keyId: string | null
  /** The id of the token that it bears; `null` for who bears a key. */
  readonly tokenId: string | null
  /** What it may do; `null` for all there is. */
  readonly scopes: readonly Scope[] | null
  /** The one customer that it acts as, for whom nothing else exists; `null` for the merchant. */
  readonly customerId: string | null
}

/** The service itself, or its operator. */
export const systemCaller: Caller = { keyId: null, tokenId: null, scopes: null, customerId: null }

export function hasScope({ scopes }: Caller, scope: Scope): boolean {
  return scopes === null || scopes.includes(scope)
}

/** @throws Refusal INSUFFICIENT_SCOPE that names it */
export function requireScope(caller: Caller, scope: Scope): void {
  if (!hasScope(caller, scope)) throw insufficientScope(caller, scope)
}

/**
 * Rejects an operation that the caller may not run.
 *
 * @throws Refusal INSUFFICIENT_SCOPE
 */
export function requireAllowed(
  caller: Caller,
  { name, scope, actsAsCustomer }: Access & { readonly name: string },
): void {
  if (scope === 'anyApiKey') {
    if (caller.tokenId === null) return
    throw new DomainError('INSUFFICIENT_SCOPE', 'A token makes no tokens: this needs an API key.')
  }
  if (caller.customerId !== null && !actsAsCustomer) {
    throw new DomainError('INSUFFICIENT_SCOPE', 'This is not for a token that acts as one customer.')
  }
  if (caller.scopes === null) return
  if (scope === null) {
    const message = `This ${credentialNoun(caller)} has scopes, and no scope allows ${name}: use an API key without scopes.`
    throw new DomainError('INSUFFICIENT_SCOPE', message)
  }
  requireScope(caller, scope)
}

/** The database of a caller that may not read: whatever it asks for is refused, but what it may have done can be. */
export function denyReads(db: Database, caller: Caller): Database {
  const reject = (): never => {
    throw insufficientScope(caller, 'read')
  }
  return { ...db, execute: reject as Reader['execute'], snapshot: async () => reject() }
}

/** What a credential may do: an API key, or a client token that has an id. */
type ScopedCredential = { readonly tokenId: string | null; readonly scopes: readonly string[] | null }

/** The refusal for what takes a scope that the caller does not have. */
export function insufficientScope(credential: ScopedCredential, scope: Scope): DomainError {
  const held = credential.scopes?.join(', ')
  return new DomainError(
    'INSUFFICIENT_SCOPE',
    `This ${credentialNoun(credential)} lacks the scope ${scope}; it has ${held}.`,
  )
}

function credentialNoun({ tokenId }: ScopedCredential): 'token' | 'API key' {
  return tokenId === null ? 'API key' : 'token'
}
