import { NoResponseError, RequestError, ServiceError } from './errors.ts'

/** A client token, as `POST /api/client-tokens` returns it. Your server may add fields of its own. */
export type Token = { readonly token: string; readonly expires_at: string }

/** Provides the current client token. Concurrent callers share one request for a new token. */
export type TokenSource<T extends Token = Token> = {
  /** Returns a token that is valid for a while. */
  readonly current: () => Promise<T>
  /** Drops a token that the service rejected, unless it has been replaced. */
  readonly drop: (token: string) => void
}

export type TokenSourceOptions<T extends Token> = {
  /**
   * A function that requests a token from your own server, which knows the user, or a URL that returns a token as JSON
   * to a POST.
   */
  readonly from: string | ((signal: AbortSignal) => Promise<T>)
  /** How long before its expiry a token is replaced: by default a fifth of its lifetime, and at most a minute. */
  readonly refreshBeforeMs?: number
  /** The time limit of a request for a token. */
  readonly timeoutMs?: number
}

type Held<T> = { readonly token: T; readonly refreshAt: number; readonly expiresAt: number }

/**
 * Creates a source of client tokens for pages.
 *
 * Replaces a token near its expiry in the background, and returns the old token meanwhile. If the replacement fails,
 * returns the old token until it expires.
 */
export function createTokenSource<T extends Token = Token>(options: TokenSourceOptions<T>): TokenSource<T> {
  const { from, refreshBeforeMs, timeoutMs = 30_000 } = options
  const request = typeof from === 'string' ? (signal: AbortSignal) => requestToken<T>(from, signal) : from
  let held: Held<T> | null = null
  let pending: Promise<T> | null = null

  const refresh = (): Promise<T> => {
    pending ??= request(AbortSignal.timeout(timeoutMs))
      .then((token) => {
        held = { token, ...timesOf(token, refreshBeforeMs) }
        return token
      })
      .catch((cause) => {
        throw cause instanceof RequestError ? cause : new NoResponseError(`No token: ${cause}`, unsent, { cause })
      })
      .finally(() => {
        pending = null
      })
    return pending
  }

  return {
    current: async () => {
      const now = Date.now()
      if (held === null || now >= held.expiresAt) return refresh()
      if (now >= held.refreshAt) refresh().catch(() => {})
      return held.token
    },
    drop: (token) => {
      if (held?.token.token === token) held = null
    },
  }
}

/** The request was not sent, because there was no token. */
const unsent = { outcome: 'unprocessed', idempotencyKey: null, attempts: 0 } as const

async function requestToken<T>(url: string, signal: AbortSignal): Promise<T> {
  const response = await fetch(url, { method: 'POST', signal })
  const { status } = response
  if (response.ok) return response.json()
  const refused = { ...unsent, code: `HTTP_${status}`, status, requestId: null, retryAfterMs: null }
  throw new ServiceError(`${url} returned ${status} instead of a token.`, refused)
}

/**
 * Computes times of this machine's clock, which may differ from the service's clock. The token contains its lifetime,
 * which begins when the token arrives, or earlier if your server cached the token.
 */
function timesOf({ token, expires_at }: Token, refreshBeforeMs: number | undefined) {
  const now = Date.now()
  const remainingMs = Date.parse(expires_at) - now
  const lifetimeMs = lifetimeIn(token) ?? remainingMs
  const validMs = remainingMs > 0 ? Math.min(lifetimeMs, remainingMs) : lifetimeMs
  const beforeMs = refreshBeforeMs ?? Math.min(60_000, validMs / 5)
  return { refreshAt: now + validMs - beforeMs, expiresAt: now + validMs }
}

function lifetimeIn(token: string): number | null {
  try {
    const [, payload = ''] = token.split('.')
    const { iat, exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    return typeof iat === 'number' && typeof exp === 'number' ? (exp - iat) * 1_000 : null
  } catch {
    return null
  }
}
