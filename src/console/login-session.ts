import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../core/ids-and-clock.ts'
import { parseUuid } from '../core/ids-and-clock.ts'

const linkLifetimeMs = 10 * 60_000
const idleTimeoutMs = 30 * 60_000
const maxSessionMs = 12 * 3_600_000

/** Secrets of 256 bits cannot be guessed, so repeated attempts mean trouble, such as a leaked link. */
const maxWrongSecrets = 20

/** The single login session of a console: the first browser that opens the link gets it. */
export type LoginSession = {
  readonly linkToken: string
  /** The random path of the pages, to which the cookie is limited. */
  readonly basePath: string
  /** Exchanges the link's token for the session cookie, once; `null` if it is wrong, used or expired. */
  readonly redeemLinkToken: (token: string) => string | null
  /** Checks the cookie and restarts the idle timeout. */
  readonly isValidCookie: (cookie: string) => boolean
  /** Ends the session and invalidates the link. */
  readonly end: () => void
  /** Why the session has ended and the link is invalid; `null` before. */
  readonly endReason: () => string | null
  /** Computes an HMAC with a key of this console. */
  readonly sign: (text: string) => string
}

/** Creates a session. Its link, cookie and CSRF tokens use secrets of 256 bits that exist in this process only. */
export function createLoginSession(now: Clock): LoginSession {
  const [linkToken, sessionCookie, hmacKey] = [generateSecret(), generateSecret(), randomBytes(32)]
  const startedAt = now()
  let loggedInAt: number | null = null
  let lastUsedAt = startedAt
  let wrongSecrets = 0
  let hasEnded = false

  function endReason(): string | null {
    if (hasEnded) return 'The session was ended.'
    if (wrongSecrets >= maxWrongSecrets) return 'Too many requests had a wrong link or cookie.'
    if (loggedInAt === null) return now() - startedAt > linkLifetimeMs ? 'The link was not opened in time.' : null
    if (now() - loggedInAt > maxSessionMs) return 'The session reached its maximum duration.'
    return now() - lastUsedAt > idleTimeoutMs ? 'The session was idle for too long.' : null
  }

  function isRightSecret(candidate: string, secret: string): boolean {
    if (isEqualConstantTime(candidate, secret)) return true
    if (candidate !== '') wrongSecrets++
    return false
  }

  return {
    linkToken,
    basePath: `/${randomBytes(16).toString('hex')}`,
    redeemLinkToken: (token) => {
      if (endReason() !== null || !isRightSecret(token, linkToken) || loggedInAt !== null) return null
      loggedInAt = now()
      lastUsedAt = loggedInAt
      return sessionCookie
    },
    isValidCookie: (cookie) => {
      if (endReason() !== null || loggedInAt === null || !isRightSecret(cookie, sessionCookie)) return false
      lastUsedAt = now()
      return true
    },
    end: () => {
      hasEnded = true
    },
    endReason,
    sign: (text) => createHmac('sha256', hmacKey).update(text).digest('base64url'),
  }
}

function generateSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares the hashes, so that neither contents nor lengths affect the time. */
function isEqualConstantTime(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}

/** The form that a CSRF token is valid for. */
type CsrfPurpose = { readonly path: string; readonly action: string; readonly target: string }

/** Creates a CSRF token: the id of the form, which makes its action idempotent, and an HMAC of id and purpose. */
export function createCsrfToken({ sign }: LoginSession, formId: string, purpose: CsrfPurpose): string {
  return `${formId}.${sign(csrfPayload(formId, purpose))}`
}

/** Returns the form's id, or `null` if the token is forged or for another purpose. */
export function verifyCsrfToken({ sign }: LoginSession, csrfToken: string, purpose: CsrfPurpose): string | null {
  const [formId = '', signature = ''] = csrfToken.split('.')
  const isValid = parseUuid(formId) === formId && isEqualConstantTime(signature, sign(csrfPayload(formId, purpose)))
  return isValid ? formId : null
}

function csrfPayload(formId: string, { path, action, target }: CsrfPurpose): string {
  return JSON.stringify([formId, path, action, target])
}
