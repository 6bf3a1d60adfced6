import { hkdfSync } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { parseUuid } from '../../core/ids-and-clock.ts'
import type { Secrets } from '../../core/secrets/secrets.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import { scopes as allScopes } from '../../operations/access/scopes.ts'

export const maxTokenSeconds = 24 * 3_600

/** The algorithm is fixed, because the header of a token must not choose the algorithm. */
const algorithm = 'HS256'

/** The times are in seconds since 1970. */
export type TokenClaims = {
  readonly id: string
  /** `customerId` is `null` if the token acts for the merchant itself. */
  readonly customerId: string | null
  readonly scopes: readonly Scope[]
  readonly issuedAt: number
  readonly expiresAt: number
}

export type SigningKey = { readonly id: string; readonly secretHash: string }

/** The `kid` of the JWT is the id of the API key. */
export function signClientToken(
  secrets: Secrets,
  key: SigningKey,
  { id, customerId, scopes, issuedAt, expiresAt }: TokenClaims,
): Promise<string> {
  return new SignJWT({ scope: scopes.join(' '), ...(customerId !== null && { sub: customerId }) })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: key.id })
    .setJti(id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(signingSecret(secrets, key))
}

export function isClientToken(text: string): boolean {
  return text.includes('.')
}

/** `keyIdOfToken` does not verify the signature. */
export function keyIdOfToken(token: string): string | null {
  try {
    const { kid } = decodeProtectedHeader(token)
    return kid !== undefined && /^[0-9a-f]{16}$/.test(kid) ? kid : null
  } catch {
    return null
  }
}

/** Verifying a signature takes longer than the rest of a small request. */
const verifiedTokens = new LRUCache<string, TokenClaims>({ max: 10_000 })

/**
 * The caller must check the token's expiry.
 *
 * @returns `null` if the token is malformed, was modified, or was signed with a different key or algorithm
 */
export async function verifyClientToken(secrets: Secrets, key: SigningKey, token: string): Promise<TokenClaims | null> {
  const cacheKey = `${key.secretHash} ${token}`
  const cached = verifiedTokens.get(cacheKey)
  if (cached !== undefined) return cached
  const claims = await verifiedClaims(secrets, key, token)
  if (claims !== null) verifiedTokens.set(cacheKey, claims)
  return claims
}

async function verifiedClaims(secrets: Secrets, key: SigningKey, token: string): Promise<TokenClaims | null> {
  try {
    const options = { algorithms: [algorithm], typ: 'JWT', currentDate: new Date(0) }
    const { payload } = await jwtVerify(token, signingSecret(secrets, key), options)
    // Checks the encoding last, so that rejecting a non-canonical signature takes as long as rejecting a wrong
    // signature.
    return hasCanonicalSignature(token) ? claimsOfPayload(payload) : null
  } catch {
    return null
  }
}

/**
 * Base64 decoders accept padding, other alphabets and nonzero trailing bits, so without this check a token would have
 * several valid encodings. The signature covers the encoded header and payload, so only the encoding of the signature
 * needs a check.
 */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

function claimsOfPayload({ jti, sub, scope, iat, exp }: JWTPayload): TokenClaims | null {
  const scopes = String(scope).split(' ') as Scope[]
  const customerId = parseUuid(sub)
  const isKnown = scopes.every((each) => allScopes.includes(each)) && (sub === undefined || customerId !== null)
  if (!isKnown || jti === undefined || iat === undefined || exp === undefined) return null
  return exp - iat > maxTokenSeconds ? null : { id: jti, customerId, scopes, issuedAt: iat, expiresAt: exp }
}

/**
 * The signing secret is derived from the stored hash of the API key's secret, so that client tokens need no table and
 * become invalid with the API key. If SECRETS_KEY is set, the salt is derived from SECRETS_KEY, so that a holder of the
 * API key cannot forge tokens.
 */
function signingSecret(secrets: Secrets, { id, secretHash }: SigningKey): Uint8Array {
  const salt = secrets.derive('client tokens')
  return new Uint8Array(hkdfSync('sha256', Buffer.from(secretHash, 'hex'), salt, `client token of ${id}`, 32))
}
