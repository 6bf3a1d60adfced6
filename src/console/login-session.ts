import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../core/ids-and-clock.ts'

/** How long the link waits for whoever opens it, how long a session may lie unused, and how long it lasts at most. */
const linkLifetimeMs = 10 * 60_000
const idleTimeoutMs = 30 * 60_000
const maxSessionMs = 12 * 3_600_000

/** Secrets that may be wrong before nobody is let in any more: of 256 bits none is guessed, and who tries is not the operator. */
const maxWrongSecrets = 20

/** Who gets into one console: whoever opens its link first, and nobody after. */
export type LoginSession = {
  /** What the link has. */
  readonly linkToken: string
  /** Below what path the pages are; it is part of what keeps the session to this console. */
  readonly basePath: string
  /** The session for the token, once; `null` where it is wrong, used or old. */
  readonly redeemLinkToken: (token: string) => string | null
  /** Whether this is the session, which then goes on. */
  readonly isValidCookie: (session: string) => boolean
  /** Ends the session, and the link with it. */
  readonly end: () => void
  /** Why nobody can get in any more; `null` while somebody can. */
  readonly endReason: () => string | null
  /** What nobody without this console's key can make of a text. */
  readonly sign: (text: string) => string
}

/**
 * The entrance of one console. Its link, its session and its forms each have a secret of 256 bits, of which only this process
 * knows, so all of them end with it.
 */
export function createLoginSession(now: Clock): LoginSession {
  const [token, session, key] = [generateSecret(), generateSecret(), randomBytes(32)]
  const startedAt = now()
  let admittedAt: number | null = null
  let seenAt = startedAt
  let wrong = 0
  let hasEnded = false

  function endReason(): string | null {
    if (hasEnded) return 'The session was ended.'
    if (wrong >= maxWrongSecrets) return 'Somebody tried to get in with wrong secrets.'
    if (admittedAt === null) return now() - startedAt > linkLifetimeMs ? 'Nobody has opened the link.' : null
    if (now() - admittedAt > maxSessionMs) return 'The session has lasted as long as one may.'
    return now() - seenAt > idleTimeoutMs ? 'Nobody has used the console for a while.' : null
  }

  function isRightSecret(given: string, secret: string): boolean {
    if (isEqualConstantTime(given, secret)) return true
    if (given !== '') wrong++
    return false
  }

  return {
    linkToken: token,
    basePath: `/${randomBytes(16).toString('hex')}`,
    redeemLinkToken: (given) => {
      if (endReason() !== null || !isRightSecret(given, token) || admittedAt !== null) return null
      admittedAt = now()
      seenAt = admittedAt
      return session
    },
    isValidCookie: (given) => {
      if (endReason() !== null || admittedAt === null || !isRightSecret(given, session)) return false
      seenAt = now()
      return true
    },
    end: () => {
      hasEnded = true
    },
    endReason,
    sign: (text) => createHmac('sha256', key).update(text).digest('base64url'),
  }
}

function generateSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares in constant time, whatever the lengths are. */
export function isEqualConstantTime(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}
