import { randomBytes } from 'node:crypto'
import type { Clock } from '../core/ids-and-clock.ts'
import { generateSecret, idleTimeoutMs, isEqualConstantTime, maxSessionMs } from './console-session.ts'

const linkLifetimeMs = 10 * 60_000

/**
 * A secret of 256 bits cannot be guessed. Repeated wrong secrets therefore indicate a problem, for example a leaked
 * link.
 */
const maxWrongSecrets = 20

export type LoginSession = {
  readonly linkToken: string
  /** Browsers send the session cookie only for this random path. */
  readonly basePath: string
  /** Returns the session cookie. Returns `null` if the link's token is wrong, used or expired. */
  readonly redeemLinkToken: (token: string) => string | null
  /** Restarts the idle timeout. */
  readonly isValidCookie: (cookie: string) => boolean
  /** Invalidates the link too. */
  readonly end: () => void
  /** Returns the reason why the session or the link has ended, or `null` if both are valid. */
  readonly endReason: () => string | null
}

/** The secrets of the link and the cookie are stored only in this process. */
export function createLoginSession(now: Clock): LoginSession {
  const [linkToken, sessionCookie] = [generateSecret(), generateSecret()]
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
  }
}
