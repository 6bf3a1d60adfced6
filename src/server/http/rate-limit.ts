import { DomainError } from '../../core/errors.ts'

/**
 * Sets the `RateLimit` headers (IETF draft).
 *
 * @throws DomainError RATE_LIMITED; if the limiter waits for another process, the promise rejects with this error
 */
export type RateLimiter = (key: string, setHeader: SetHeader) => void | Promise<void>

type SetHeader = (name: string, value: string) => void

export type RateLimits = { readonly merchants: RateLimiter; readonly unauthenticated: RateLimiter }

export function createRateLimiter(perSecond: number, elapsed: () => number): RateLimiter {
  const { windowOf } = createWindows(elapsed)
  return (merchantId, setHeader) =>
    takeToken(windowOf(merchantId), { perSecond, policy: 'default', at: elapsed() }, setHeader)
}

/** All IP addresses after the first 10,000 share one limit, so that a flood of addresses does not exhaust memory. */
const maxTrackedAddresses = 10_000

/** Counts only failed authentications, so that failed requests cannot lock out other callers behind the same proxy. */
export function createUnauthenticatedRateLimiter(perSecond: number, elapsed: () => number): RateLimiter {
  const { windowOf, count, sweep } = createWindows(elapsed)
  return (address, setHeader) => {
    const at = elapsed()
    if (count() >= maxTrackedAddresses) sweep(at, windowMs)
    const key = count() >= maxTrackedAddresses ? 'others' : networkOf(address)
    takeToken(windowOf(key), { perSecond, policy: 'refused', at }, setHeader)
  }
}

/** Returns the /64 network of an IPv6 address, because one caller usually has a whole /64 network. */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head, tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...(head ?? []), ...Array(8 - (head?.length ?? 0) - (tail?.length ?? 0)).fill('0'), ...(tail ?? [])]
  return groups.slice(0, 4).join(':')
}

function takeToken(
  window: RateLimitWindow,
  { perSecond, policy, at }: { perSecond: number; policy: string; at: number },
  setHeader: SetHeader,
): void {
  const free = freeTokensOf(window, perSecond)
  if (free >= 1) recordUse(window, 1, at)
  enforceLimit({ perSecond, policy, left: Math.max(0, free - 1), isOver: free < 1 }, setHeader)
}

export type TokenExchangeRequest = { readonly merchantId: string; readonly unused: number; readonly wanted: number }

export type TokenExchangeResult = { readonly tokens: number; readonly left: number }

export type ExchangeTokens = (request: TokenExchangeRequest) => Promise<TokenExchangeResult>

export type SharedWindows = {
  readonly exchange: (holder: number, request: TokenExchangeRequest) => TokenExchangeResult
  readonly forget: (holder: number) => void
}

/**
 * All processes together keep the rate limit: leased tokens plus tokens used within the last second never exceed
 * `perSecond`. A leased token that a process does not return counts as used.
 */
export function createSharedWindows(perSecond: number, elapsed: () => number): SharedWindows {
  const { windowOf, everyWindow } = createWindows(elapsed)
  const settle = (window: RateLimitWindow, holder: number, unused: number) => {
    const leased = window.leased.get(holder) ?? 0
    window.leased.delete(holder)
    if (leased > unused) recordUse(window, leased - unused, elapsed())
  }
  return {
    exchange: (holder, { merchantId, unused, wanted }) => {
      const window = windowOf(merchantId)
      settle(window, holder, unused)
      const tokens = Math.max(0, Math.min(wanted, freeTokensOf(window, perSecond)))
      if (tokens > 0) window.leased.set(holder, tokens)
      return { tokens, left: freeTokensOf(window, perSecond) }
    },
    forget: (holder) => {
      for (const window of everyWindow()) settle(window, holder, 0)
    },
  }
}

const tokenLeaseMs = 200

type TokenLease = {
  tokens: number
  left: number
  takenAt: number
  emptyUntil: number
  pendingExchange: Promise<void> | null
}

export function createSharedRateLimiter(
  perSecond: number,
  { exchange, processes }: { exchange: ExchangeTokens; processes: number },
  elapsed: () => number,
): RateLimiter {
  const maxLeased = Math.max(1, Math.floor(perSecond / (8 * processes)))
  const leases = new Map<string, TokenLease>()
  setInterval(returnUnusedTokens, tokenLeaseMs).unref()

  function returnUnusedTokens(): void {
    const at = elapsed()
    for (const [merchantId, lease] of leases) {
      if (lease.pendingExchange !== null || at - lease.takenAt < tokenLeaseMs) continue
      leases.delete(merchantId)
      exchange({ merchantId, unused: lease.tokens, wanted: 0 }).catch(() => {})
    }
  }

  function requestTokens(merchantId: string, lease: TokenLease): Promise<void> {
    lease.pendingExchange ??= exchange({ merchantId, unused: 0, wanted: maxLeased })
      .then(({ tokens, left }) => {
        lease.tokens = tokens
        lease.left = left
        lease.takenAt = elapsed()
        if (tokens === 0) lease.emptyUntil = lease.takenAt + Math.min(windowMs / perSecond, 100)
      })
      .finally(() => {
        lease.pendingExchange = null
      })
    return lease.pendingExchange
  }

  /** Returns `null` if the process must request tokens. */
  function tryUseToken(lease: TokenLease): boolean | null {
    if (lease.tokens > 0) {
      lease.tokens--
      return true
    }
    return elapsed() < lease.emptyUntil ? false : null
  }

  async function waitForToken(merchantId: string, lease: TokenLease, setHeader: SetHeader): Promise<void> {
    let isUsed: boolean | null = null
    while (isUsed === null) {
      await requestTokens(merchantId, lease)
      isUsed = tryUseToken(lease)
    }
    enforceLimit({ perSecond, policy: 'default', left: lease.left + lease.tokens, isOver: !isUsed }, setHeader)
  }

  return (merchantId, setHeader) => {
    const lease = leases.get(merchantId) ?? { tokens: 0, left: 0, takenAt: 0, emptyUntil: 0, pendingExchange: null }
    leases.set(merchantId, lease)
    const isUsed = tryUseToken(lease)
    if (isUsed === null) return waitForToken(merchantId, lease, setHeader)
    enforceLimit({ perSecond, policy: 'default', left: lease.left + lease.tokens, isOver: !isUsed }, setHeader)
  }
}

const windowMs = 1_000

/** Merging uses within 10 ms limits the memory of a rate limit window. */
const mergeWithinMs = 10

type RateLimitWindow = {
  readonly uses: { readonly from: number; until: number; tokens: number }[]
  readonly leased: Map<number, number>
  used: number
}

/**
 * Creates one sliding window per merchant or address. A used token becomes available again after a full second, so no
 * period of one second exceeds the rate limit. A token bucket would allow nearly twice as many requests.
 *
 * @param elapsed milliseconds of a monotonic clock; a wall clock could go backwards and lock out all callers
 */
function createWindows(elapsed: () => number) {
  const byKey = new Map<string, RateLimitWindow>()
  let sweptAt = elapsed()

  function windowOf(key: string): RateLimitWindow {
    const at = elapsed()
    sweep(at, 60_000)
    const window = byKey.get(key) ?? { uses: [], leased: new Map(), used: 0 }
    byKey.set(key, window)
    expireUses(window, at)
    return window
  }

  /** A sweep visits all windows, so a sweep runs at most once per `everyMs`. */
  function sweep(at: number, everyMs: number): void {
    if (at - sweptAt < everyMs) return
    sweptAt = at
    for (const [key, window] of byKey) {
      expireUses(window, at)
      if (window.used === 0 && window.leased.size === 0) byKey.delete(key)
    }
  }

  return { windowOf, sweep, everyWindow: () => byKey.values(), count: () => byKey.size }
}

function expireUses(window: RateLimitWindow, at: number): void {
  const { uses } = window
  while (uses[0] !== undefined && at - uses[0].until >= windowMs) window.used -= uses.shift()?.tokens ?? 0
}

function recordUse(window: RateLimitWindow, tokens: number, at: number): void {
  const last = window.uses.at(-1)
  window.used += tokens
  if (last === undefined || at - last.from >= mergeWithinMs) window.uses.push({ from: at, until: at, tokens })
  else {
    last.until = at
    last.tokens += tokens
  }
}

function freeTokensOf({ used, leased }: RateLimitWindow, perSecond: number): number {
  let free = perSecond - used
  for (const tokens of leased.values()) free -= tokens
  return free
}

function enforceLimit(
  { perSecond, policy, left, isOver }: { perSecond: number; policy: string; left: number; isOver: boolean },
  setHeader: SetHeader,
): void {
  setHeader('ratelimit-policy', `"${policy}";q=${perSecond};w=1`)
  setHeader('ratelimit', `"${policy}";r=${left};t=1`)
  if (!isOver) return
  setHeader('retry-after', '1')
  throw new DomainError('RATE_LIMITED', `At most ${perSecond} requests a second are answered.`)
}
