import { LRUCache } from 'lru-cache'
import type { Clock } from '../core/ids-and-clock.ts'

type GuessPolicy = {
  /** The number of failed sign-ins before the first wait. */
  readonly freeFailures: number
  readonly maxWaitMs: number
}

/** Anyone who knows an operator's name can make that operator wait, so the maximum wait per operator is short. */
const policies = {
  operator: { freeFailures: 5, maxWaitMs: 60_000 },
  address: { freeFailures: 20, maxWaitMs: 15 * 60_000 },
} as const satisfies Record<string, GuessPolicy>

const initialWaitMs = 1_000

/** Failed sign-ins are forgotten after `memoryMs` without another failure. */
const memoryMs = 3_600_000

/** Failed sign-ins are stored for at most `maxEntries` operators and `maxEntries` IP addresses. */
const maxEntries = 10_000

type Failures = { count: number; readonly at: number; readonly blockedUntil: number }

type GuessSource = { readonly operator: string; readonly address: string }

/**
 * If `waitSeconds` is 0, the caller checks the password. After the check, the caller calls `succeed` for a right
 * password, or `withdraw` if the check was impossible.
 */
type GuessAttempt = { readonly waitSeconds: number; readonly succeed: () => void; readonly withdraw: () => void }

/** After `freeFailures` failed sign-ins, each further failure doubles the wait (exponential backoff). */
export type GuessLimiter = { readonly begin: (source: GuessSource) => GuessAttempt }

/** @param elapsed milliseconds of a monotonic clock */
export function createGuessLimiter(elapsed: Clock): GuessLimiter {
  const operators = createFailureCounter(policies.operator, elapsed)
  const addresses = createFailureCounter(policies.address, elapsed)
  return {
    begin: ({ operator, address }) => {
      const waitMs = Math.max(operators.waitMs(operator), addresses.waitMs(address))
      if (waitMs > 0) return { waitSeconds: Math.ceil(waitMs / 1_000), succeed: () => {}, withdraw: () => {} }
      // The attempt is counted before the password is checked, so that concurrent attempts count too.
      const withdrawFromOperator = operators.add(operator)
      const withdrawFromAddress = addresses.add(address)
      return {
        waitSeconds: 0,
        succeed: () => {
          operators.forget(operator)
          // Earlier failed sign-ins from the IP address still count, so that an attacker cannot reset the count by
          // signing in to another account.
          withdrawFromAddress()
        },
        withdraw: () => {
          withdrawFromOperator()
          withdrawFromAddress()
        },
      }
    },
  }
}

function createFailureCounter({ freeFailures, maxWaitMs }: GuessPolicy, elapsed: Clock) {
  const entries = new LRUCache<string, Failures>({ max: maxEntries })
  const find = (key: string): Failures | undefined => {
    const entry = entries.get(key)
    return entry === undefined || elapsed() - entry.at > memoryMs ? undefined : entry
  }
  return {
    waitMs: (key: string) => Math.max(0, (find(key)?.blockedUntil ?? 0) - elapsed()),
    /** Adds a failed sign-in, and returns a function that removes this failed sign-in. */
    add: (key: string) => {
      const previous = find(key)
      const count = (previous?.count ?? 0) + 1
      const at = elapsed()
      const excess = count - freeFailures
      const blockedUntil = excess < 0 ? 0 : at + Math.min(maxWaitMs, initialWaitMs * 2 ** excess)
      entries.set(key, { count, at, blockedUntil })
      return () => {
        const current = find(key)
        if (current)
          entries.set(key, { ...current, count: current.count - 1, blockedUntil: previous?.blockedUntil ?? 0 })
      }
    },
    forget: (key: string) => {
      entries.delete(key)
    },
  }
}
