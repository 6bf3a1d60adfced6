import { DomainError } from '../../core/errors.ts'

/**
 * Lets a request of a merchant, or from an address, pass or refuses it, and sets the headers that tell how much is left (IETF draft).
 *
 * @throws Refusal RATE_LIMITED, or rejects with it where the answer takes time
 */
export type RateLimiter = (key: string, setHeader: SetHeader) => void | Promise<void>

type SetHeader = (name: string, value: string) => void

/** Who may ask, each within a rate: merchants by their ids, and by their addresses those whose key is refused. */
export type RateLimits = { readonly merchants: RateLimiter; readonly unauthenticated: RateLimiter }

/** The limit of one process alone: each token is used when it is taken. */
export function createRateLimiter(perSecond: number, elapsed: () => number): RateLimiter {
  const { windowOf } = createWindows(elapsed)
  return (merchantId, setHeader) =>
    takeToken(windowOf(merchantId), { perSecond, policy: 'default', at: elapsed() }, setHeader)
}

/** Addresses that are told apart at once; all beyond share one limit, so that no flood of them takes the memory. */
const maxTrackedAddresses = 10_000

/**
 * How many refused keys an address may send in a second. Only refused ones count: an address may be that of a proxy, and
 * whoever has a good key must not pay for others behind it.
 */
export function createUnauthenticatedRateLimiter(perSecond: number, elapsed: () => number): RateLimiter {
  const { windowOf, count, sweep } = createWindows(elapsed)
  return (address, setHeader) => {
    const at = elapsed()
    if (count() >= maxTrackedAddresses) sweep(at, windowMs)
    const key = count() >= maxTrackedAddresses ? 'others' : networkOf(address)
    takeToken(windowOf(key), { perSecond, policy: 'refused', at }, setHeader)
  }
}

/** An address as far as it tells one caller from another: whoever has one of IPv6 has all 2⁶⁴ of its network. */
function networkOf(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head, tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...(head ?? []), ...Array(8 - (head?.length ?? 0) - (tail?.length ?? 0)).fill('0'), ...(tail ?? [])]
  return groups.slice(0, 4).join(':')
}

/** @throws Refusal RATE_LIMITED */
function takeToken(
  window: RateLimitWindow,
  { perSecond, policy, at }: { perSecond: number; policy: string; at: number },
  setHeader: SetHeader,
): void {
  const free = freeTokensOf(window, perSecond)
  if (free >= 1) recordUse(window, 1, at)
  enforceLimit({ perSecond, policy, left: Math.max(0, free - 1), isOver: free < 1 }, setHeader)
}

/** What a process gives back of the tokens that it took last, and how many it wants now. */
export type TokenExchangeRequest = { readonly merchantId: string; readonly unused: number; readonly wanted: number }

/** The tokens that it gets, and what is left for whoever asks next. */
export type TokenExchangeResult = { readonly tokens: number; readonly left: number }

/** Asks the process that keeps the windows. */
export type ExchangeTokens = (request: TokenExchangeRequest) => Promise<TokenExchangeResult>

/** Windows from which several processes take; `forget` counts what a process held as used, because it is gone. */
export type SharedWindows = {
  readonly exchange: (holder: number, request: TokenExchangeRequest) => TokenExchangeResult
  readonly forget: (holder: number) => void
}

/**
 * What is held and what was used within a second are together never more than `perSecond`, so the limit holds for all
 * processes. When a token was used only its holder knows: it counts from when that says so, which is later.
 */
export function createSharedWindows(perSecond: number, elapsed: () => number): SharedWindows {
  const { windowOf, everyWindow } = createWindows(elapsed)
  const settle = (window: RateLimitWindow, holder: number, unused: number) => {
    const held = window.held.get(holder) ?? 0
    window.held.delete(holder)
    if (held > unused) recordUse(window, held - unused, elapsed())
  }
  return {
    exchange: (holder, { merchantId, unused, wanted }) => {
      const window = windowOf(merchantId)
      settle(window, holder, unused)
      const tokens = Math.max(0, Math.min(wanted, freeTokensOf(window, perSecond)))
      if (tokens > 0) window.held.set(holder, tokens)
      return { tokens, left: freeTokensOf(window, perSecond) }
    },
    forget: (holder) => {
      for (const window of everyWindow()) settle(window, holder, 0)
    },
  }
}

/** Unused tokens go back after this time, so that a process that has nothing to do does not keep them from the others. */
const tokenLeaseMs = 200

type TokenLease = {
  tokens: number
  left: number
  takenAt: number
  emptyUntil: number
  pendingExchange: Promise<void> | null
}

/**
 * The limit of one process among several: it takes tokens from the shared windows, some at a time, so that hardly any
 * request has to wait for another process.
 *
 * @param processes how many share them
 */
export function createSharedRateLimiter(
  perSecond: number,
  { exchange, processes }: { exchange: ExchangeTokens; processes: number },
  elapsed: () => number,
): RateLimiter {
  const most = Math.max(1, Math.floor(perSecond / (8 * processes)))
  const heldOf = new Map<string, TokenLease>()
  setInterval(returnUnusedTokens, tokenLeaseMs).unref()

  function returnUnusedTokens(): void {
    const at = elapsed()
    for (const [merchantId, held] of heldOf) {
      if (held.pendingExchange !== null || at - held.takenAt < tokenLeaseMs) continue
      heldOf.delete(merchantId)
      exchange({ merchantId, unused: held.tokens, wanted: 0 }).catch(() => {})
    }
  }

  function requestTokens(merchantId: string, held: TokenLease): Promise<void> {
    held.pendingExchange ??= exchange({ merchantId, unused: 0, wanted: most })
      .then(({ tokens, left }) => {
        held.tokens = tokens
        held.left = left
        held.takenAt = elapsed()
        // Until there can be another token nobody need be asked, however many requests come.
        if (tokens === 0) held.emptyUntil = held.takenAt + Math.min(windowMs / perSecond, 100)
      })
      .finally(() => {
        held.pendingExchange = null
      })
    return held.pendingExchange
  }

  /** Takes one token, or tells that there is none; `null` when another process must be asked. */
  function tryUseToken(held: TokenLease): boolean | null {
    if (held.tokens > 0) {
      held.tokens--
      return true
    }
    return elapsed() < held.emptyUntil ? false : null
  }

  async function waitForToken(merchantId: string, held: TokenLease, setHeader: SetHeader): Promise<void> {
    let isUsed: boolean | null = null
    while (isUsed === null) {
      await requestTokens(merchantId, held)
      isUsed = tryUseToken(held)
    }
    enforceLimit({ perSecond, policy: 'default', left: held.left + held.tokens, isOver: !isUsed }, setHeader)
  }

  return (merchantId, setHeader) => {
    const held = heldOf.get(merchantId) ?? { tokens: 0, left: 0, takenAt: 0, emptyUntil: 0, pendingExchange: null }
    heldOf.set(merchantId, held)
    const isUsed = tryUseToken(held)
    if (isUsed === null) return waitForToken(merchantId, held, setHeader)
    enforceLimit({ perSecond, policy: 'default', left: held.left + held.tokens, isOver: !isUsed }, setHeader)
  }
}

const windowMs = 1_000

/** Uses that lie so close together are kept as one, from the first to the last: a second has at most a hundred of them. */
const mergeWithinMs = 10

/** What was used, and so is not free until a second has passed since `until`; `held` is what each process took and may use. */
type RateLimitWindow = {
  readonly uses: { readonly from: number; until: number; tokens: number }[]
  readonly held: Map<number, number>
  used: number
}

/**
 * For each key a window of a second: a token that is used is free again when a whole second has passed, so in no second,
 * wherever it begins, are more used than there are. A bucket that is refilled evenly would let through nearly twice as
 * many: those that it held, and those that came meanwhile.
 *
 * Windows in which nothing is used are forgotten, so memory follows the number of keys that are active.
 *
 * @param elapsed milliseconds since any moment; not the time of day, which may step back and shut everyone out
 */
function createWindows(elapsed: () => number) {
  const byKey = new Map<string, RateLimitWindow>()
  let sweptAt = elapsed()

  function windowOf(key: string): RateLimitWindow {
    const at = elapsed()
    sweep(at, 60_000)
    const window = byKey.get(key) ?? { uses: [], held: new Map(), used: 0 }
    byKey.set(key, window)
    expireUses(window, at)
    return window
  }

  /** Forgets what is not used, unless that was done within `everyMs`: it looks at every window. */
  function sweep(at: number, everyMs: number): void {
    if (at - sweptAt < everyMs) return
    sweptAt = at
    for (const [key, window] of byKey) {
      expireUses(window, at)
      if (window.used === 0 && window.held.size === 0) byKey.delete(key)
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

function freeTokensOf({ used, held }: RateLimitWindow, perSecond: number): number {
  let free = perSecond - used
  for (const tokens of held.values()) free -= tokens
  return free
}

/** @throws Refusal RATE_LIMITED for a request that is over the limit */
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
