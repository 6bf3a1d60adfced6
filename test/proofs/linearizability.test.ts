import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Operation } from './linearizability.ts'
import { faultOfHistory } from './linearizability.ts'
import { randomFrom } from './proof.ts'

const opening = 100n
const look = (start: number, end: number, balance: bigint): Operation => ({ start, end, change: 0n, balance })
const pay = (start: number, end: number | null, amount: bigint, balance: bigint | null = null): Operation => ({
  start,
  end,
  change: -amount,
  balance,
})
const add = (start: number, end: number | null, amount: bigint): Operation => ({
  start,
  end,
  change: amount,
  balance: null,
})

describe('faultOfHistory accepts', () => {
  const deposit = add(1, 6, 5n)
  test.each<[string, Operation[]]>([
    ['no operation', []],
    ['sequential operations', [pay(1, 2, 30n, 70n), look(3, 4, 70n), add(5, 6, 5n), look(7, 8, 75n)]],
    ['a read concurrent with a payout, ordered before it', [pay(1, 4, 30n, 70n), look(2, 3, 100n)]],
    ['a read concurrent with a payout, ordered after it', [pay(1, 4, 30n, 70n), look(2, 3, 70n)]],
    ['concurrent payouts in the reverse order', [pay(1, 4, 30n, 60n), pay(2, 3, 10n, 90n)]],
    ['a payout that needs a concurrent deposit', [pay(1, 4, 130n, 0n), add(2, 3, 30n)]],
    [
      'a deposit that its own response includes, then a payout',
      [deposit, { ...look(1, 6, 105n), follows: deposit }, pay(2, 3, 5n, 100n)],
    ],
    ['an unanswered payout that never took effect', [pay(1, null, 30n), look(2, 3, 100n)]],
    ['an unanswered payout that took effect late', [pay(1, null, 30n), look(2, 3, 100n), look(4, 5, 70n)]],
    ['an unanswered payout that had to wait for money', [pay(1, null, 130n), add(2, 3, 50n), look(4, 5, 20n)]],
  ])('%s', (_, history) => {
    expect(faultOfHistory(opening, history)).toBeNull()
  })
})

describe('faultOfHistory rejects', () => {
  const deposit = add(1, 4, 5n)
  test.each<[string, Operation[]]>([
    ['a read of a balance that never existed', [pay(1, 2, 30n, 70n), look(3, 4, 71n)]],
    ['a stale read', [pay(1, 2, 30n, 70n), look(3, 4, 100n)]],
    [
      'a read that returns an older balance than an earlier read',
      [pay(1, 6, 30n, 70n), look(2, 3, 70n), look(4, 5, 100n)],
    ],
    ['a balance from before the debit', [pay(1, 2, 30n, 100n)]],
    ['two payouts on the same money', [pay(1, 3, 60n, 40n), pay(2, 4, 60n, 40n)]],
    ['a lost payout', [pay(1, 2, 30n, 70n), pay(3, 4, 10n, 90n)]],
    ['a deposit that is credited twice', [add(1, 2, 5n), look(3, 4, 110n)]],
    ['a balance below zero', [pay(1, 2, 130n, -30n)]],
    ['a deposit that its own response does not include', [deposit, { ...look(1, 4, 100n), follows: deposit }]],
    ['an unanswered payout before its request', [look(1, 2, 70n), pay(3, null, 30n)]],
    ['an unanswered payout that took effect twice', [pay(1, null, 30n), look(2, 3, 70n), look(4, 5, 40n)]],
    ['an unanswered payout that was reverted', [pay(1, null, 30n), look(2, 3, 70n), look(4, 5, 100n)]],
    ['an unanswered payout beyond the balance', [pay(1, null, 130n), add(2, 3, 20n), look(4, 5, -10n)]],
  ])('%s', (_, history) => {
    expect(faultOfHistory(opening, history)).toMatch(/^no order explains more than \d of \d operations/)
  })
})

describe('faultOfHistory on small histories', () => {
  /** Operations in the order of their effects, some of them with a wrong balance in the response. */
  const effects = fc.record({
    change: fc.constantFrom(-2n, -1n, 0n, 1n),
    isTold: fc.boolean(),
    isAnswered: fc.boolean(),
    never: fc.boolean(),
    from: fc.nat(3),
    until: fc.nat(3),
    lie: fc.constantFrom(0n, 0n, 0n, 0n, 0n, 1n, -1n),
  })
  const histories = fc.array(effects, { minLength: 1, maxLength: 6 }).map((order) => {
    let balance = 3n
    return order.map(({ change, isTold, isAnswered, never, from, until, lie }, place): Operation => {
      if (isAnswered || !never) balance += change
      // A deposit's response may lack the balance.
      const reported = isAnswered && (isTold || change <= 0n) ? balance + lie : null
      // Every event has a unique position, up to three operations away from its effect.
      const [start, end] = [(place - from) * 100 + place, (place + until) * 100 + 50 + place]
      return { start, end: isAnswered ? end : null, change, balance: reported }
    })
  })

  test('a random small history is legal if and only if an exhaustive search finds an order for it', () => {
    const seen = { legal: 0, illegal: 0 }
    fc.assert(
      fc.property(histories, (history) => {
        const isLegal = hasOrder(3n, history)
        seen[isLegal ? 'legal' : 'illegal']++
        expect(faultOfHistory(3n, history) === null).toBe(isLegal)
      }),
      { numRuns: 3_000 },
    )
    expect(Math.min(seen.legal, seen.illegal)).toBeGreaterThan(300)
  })
})

describe('faultOfHistory on long histories', () => {
  /** What a number of sequential clients observe, each of different operations; some get no response. */
  const longHistory = (clients: number) => {
    const random = randomFrom(7)
    const asking: { start: number; change: bigint }[] = []
    const history: Operation[] = []
    let balance = 1_000_000n
    for (let place = 0; history.length < 5_000; place++) {
      const isLook = random() < 0.4
      if (asking.length < clients) {
        asking.push({ start: place, change: isLook ? 0n : BigInt(Math.floor(random() * 2_001) - 1_000) })
        continue
      }
      const [{ start, change }] = asking.splice(Math.floor(random() * clients), 1) as [(typeof asking)[0]]
      const isLost = random() < 0.002
      // Half of the unanswered operations never took effect.
      if (!isLost || random() < 0.5) balance += change
      const isTold = change <= 0n
      history.push({ start, end: isLost ? null : place, change, balance: isTold && !isLost ? balance : null })
    }
    return history
  }

  test.each([1, 4, 16])(
    'a long history of %d clients is legal, and the same history with a stale read is illegal',
    (clients) => {
      const history = longHistory(clients)
      expect(faultOfHistory(1_000_000n, history)).toBeNull()

      const at = history.findIndex(({ change, end }, i) => i > 4_000 && change === 0n && end !== null)
      const stale = history.with(at, { ...(history[at] as Operation), balance: 1n })
      expect(faultOfHistory(1_000_000n, stale)).toMatch(/^no order explains more than \d+ of \d+ operations/)
    },
  )
})

/** Tries every order of the remaining operations; unanswered ones may be left out. */
function hasOrder(balance: bigint, left: readonly Operation[]): boolean {
  if (left.every(({ end }) => end === null)) return true
  return left.some((next) => {
    if (left.some(({ end }) => end !== null && end < next.start)) return false
    const after = balance + next.change
    if (after < 0n || (next.balance !== null && next.balance !== after)) return false
    return hasOrder(
      after,
      left.filter((other) => other !== next),
    )
  })
}
