import { DomainError } from '../../core/errors.ts'
import type { Database } from '../../database/database.ts'
import type { Reader } from '../../database/query.ts'
import type { Access, Scope } from './scopes.ts'

export type Caller = {
  /**
   * The caller's API key, or the API key that created the caller's token. `keyId` is `null` for the service and for
   * operators.
   */
  readonly keyId: string | null
  readonly tokenId: string | null
  /** If `scopes` is `null`, the caller has all scopes. */
  readonly scopes: readonly Scope[] | null
  /** A client token with a `customerId` has access only to that customer. */
  readonly customerId: string | null
}

export const systemCaller: Caller = { keyId: null, tokenId: null, scopes: null, customerId: null }

export function hasScope({ scopes }: Caller, scope: Scope): boolean {
  return scopes === null || scopes.includes(scope)
}

export function requireScope(caller: Caller, scope: Scope): void {
  if (!hasScope(caller, scope)) throw insufficientScope(caller, scope)
}

export function requireAllowed(
  caller: Caller,
  { name, scope, actsAsCustomer }: Access & { readonly name: string },
): void {
  if (scope === 'anyApiKey') {
    if (caller.tokenId === null) return
    throw new DomainError('INSUFFICIENT_SCOPE', 'A client token cannot create tokens: use an API key.')
  }
  if (caller.customerId !== null && !actsAsCustomer) {
    throw new DomainError('INSUFFICIENT_SCOPE', 'A token that acts as one customer cannot do this.')
  }
  if (caller.scopes === null) return
  if (scope === null) {
    const message = `No scope allows ${name}, and this ${credentialNoun(caller)} has scopes: use an API key without scopes.`
    throw new DomainError('INSUFFICIENT_SCOPE', message)
  }
  requireScope(caller, scope)
}

export function denyReads(db: Database, caller: Caller): Database {
  const reject = (): never => {
    throw insufficientScope(caller, 'read')
  }
  return { ...db, execute: reject as Reader['execute'], snapshot: async () => reject() }
}

type ScopedCredential = { readonly tokenId: string | null; readonly scopes: readonly string[] | null }

export function insufficientScope(credential: ScopedCredential, scope: Scope): DomainError {
  const scopes = credential.scopes?.join(', ')
  return new DomainError(
    'INSUFFICIENT_SCOPE',
    `This ${credentialNoun(credential)} lacks the scope ${scope}; it has ${scopes}.`,
  )
}

function credentialNoun({ tokenId }: ScopedCredential): 'token' | 'API key' {
  return tokenId === null ? 'API key' : 'token'
}
