import { hkdfSync } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { parseUuid } from '../../core/ids-and-clock.ts'
import type { Secrets } from '../../core/secrets/secrets.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import { scopes as allScopes } from '../../operations/access/scopes.ts'

/** How long a token lasts at most, in seconds: a day. */
export const maxTokenSeconds = 24 * 3_600

/** The only algorithm there is: what a token says of itself chooses nothing. */
const algorithm = 'HS256'

/** What a token says: whom it acts as, what it may do, and until when, in seconds since 1970. */
export type TokenClaims = {
  readonly id: string
  /** One customer, or the merchant itself where that is `null`. */
  readonly customerId: string | null
  readonly scopes: readonly Scope[]
  readonly issuedAt: number
  readonly expiresAt: number
}

/** The stored key that tokens are made with. */
export type SigningKey = { readonly id: string; readonly secretHash: string }

/** The token, a JWT (RFC 7519) that names the key and is signed by what is derived from it. */
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

/** Whether a text means to be a token: an API key has no dots. */
export function isClientToken(text: string): boolean {
  return text.includes('.')
}

/** The id of the key that a token says it was made with; `null` where it says none. */
export function keyIdOfToken(token: string): string | null {
  try {
    const { kid } = decodeProtectedHeader(token)
    return kid !== undefined && /^[0-9a-f]{16}$/.test(kid) ? kid : null
  } catch {
    return null
  }
}

/** Signatures that were found right: making sure of one takes longer than all else of a small request. */
const verifiedTokens = new LRUCache<string, TokenClaims>({ max: 10_000 })

/**
 * What a token says, if it was made with this key; whether its time is over is for who uses it.
 *
 * @returns `null` for what is no token of ours, of another key, changed, or signed in another way
 */
export async function verifyClientToken(secrets: Secrets, key: SigningKey, token: string): Promise<TokenClaims | null> {
  const known = `${key.secretHash} ${token}`
  const remembered = verifiedTokens.get(known)
  if (remembered !== undefined) return remembered
  const claims = await verifiedClaims(secrets, key, token)
  if (claims !== null) verifiedTokens.set(known, claims)
  return claims
}

async function verifiedClaims(secrets: Secrets, key: SigningKey, token: string): Promise<TokenClaims | null> {
  try {
    // It is held against the clock at each use, by who uses it.
    const options = { algorithms: [algorithm], typ: 'JWT', currentDate: new Date(0) }
    const { payload } = await jwtVerify(token, signingSecret(secrets, key), options)
    // After the signature was verified, so that another spelling takes as long as a wrong signature does.
    return hasCanonicalSignature(token) ? claimsOfPayload(payload) : null
  } catch {
    return null
  }
}

/**
 * Whether the signature is spelled as it is when it is made. Decoders also take padding, other alphabets and unused bits that
 * are set. The other two parts are signed as they are spelled.
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
 * What a key's tokens are signed with: of the hash that is stored of the key, so that no table is needed, and a revoked key's
 * tokens end with it; and of SECRETS_KEY where there is one, so that nobody who has the key alone can make tokens beyond it.
 */
function signingSecret(secrets: Secrets, { id, secretHash }: SigningKey): Uint8Array {
  const salt = secrets.derive('client tokens')
  return new Uint8Array(hkdfSync('sha256', Buffer.from(secretHash, 'hex'), salt, `client token of ${id}`, 32))
}
