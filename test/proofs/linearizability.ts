/** An operation on a wallet as a client saw it; amounts are in units. */
export type Operation = {
  /** Positions of its request and its response in the sequence of all events; `end` is null without a response. */
  readonly start: number
  readonly end: number | null
  /** Its change of the balance: negative for a payout, 0 for a read. */
  readonly change: bigint
  /** The balance after it, if the response includes it, as all but a deposit's do. */
  readonly balance: bigint | null
  /** An earlier operation of the same history that precedes it, such as the deposit whose response shows the wallet. */
  readonly follows?: Operation
}

/** Maximum search states: a legal history takes hardly more than it has operations. */
const statesLimit = 1_000_000

/**
 * Returns whether a wallet's history is linearizable: whether its operations have one order, each at a moment between
 * request and response, in which every balance matches its response and none is negative. An operation without a
 * response may take effect at any time after its request, or never.
 *
 * The search is Wing and Gong's, with backtracking, plus Lowe's cache of visited states. The reported balances leave
 * it few choices.
 *
 * @returns null, or a description of how far the history can be explained
 * @throws when the search exceeds `statesLimit`
 */
export function faultOfHistory(opening: bigint, history: readonly Operation[]): string | null {
  const search = searchThrough(opening, history)
  const seen = new Set<string>()
  const path: { readonly taken: readonly number[]; readonly choices: Generator<number[]> }[] = []
  path.push({ taken: [], choices: search.choices() })
  while (!search.isDone()) {
    const step = path.at(-1)
    if (!step) return search.furthest()
    const { value: choice } = step.choices.next()
    if (choice === undefined) {
      path.pop()
      search.giveBack(step.taken)
      continue
    }
    search.take(choice)
    const state = search.state()
    if (seen.has(state)) search.giveBack(choice)
    else path.push({ taken: choice, choices: search.choices() })
    if (seen.add(state).size > statesLimit) throw new Error('this history has too many orders to search')
  }
  return null
}

/** The operations that are linearized so far, and the next candidates. */
function searchThrough(opening: bigint, history: readonly Operation[]) {
  const byStart = history.toSorted((one, other) => one.start - other.start)
  const answered = byStart.filter(({ end }) => end !== null)
  // A read without a response carries no information.
  const unanswered = byStart.filter(({ end, change }) => end === null && change !== 0n)
  const all = [...answered, ...unanswered]
  const numberOf = new Map(all.map((operation, number) => [operation, number]))
  const operationOf = (number: number) => all[number] as Operation
  const isTaken = new Uint8Array(all.length)
  let balance = opening
  /** Number of leading completed operations that are all linearized. */
  let first = 0
  let furthest = 0

  function take(numbers: readonly number[]): void {
    for (const number of numbers) {
      isTaken[number] = 1
      balance += operationOf(number).change
    }
    while (isTaken[first] && first < answered.length) first++
    furthest = Math.max(furthest, first)
  }

  function giveBack(numbers: readonly number[]): void {
    for (const number of numbers) {
      isTaken[number] = 0
      balance -= operationOf(number).change
      first = Math.min(first, number)
    }
  }

  /** Operations requested before the first response among those left, and the operation with that response. */
  function candidates() {
    const possible: number[] = []
    let next = first
    const nextEnd = () => operationOf(next).end as number
    for (let number = first; number < answered.length && operationOf(number).start < nextEnd(); number++) {
      if (isTaken[number]) continue
      possible.push(number)
      if ((operationOf(number).end as number) < nextEnd()) next = number
    }
    for (let number = answered.length; number < all.length && operationOf(number).start < nextEnd(); number++) {
      if (!isTaken[number]) possible.push(number)
    }
    return { found: possible, next }
  }

  /**
   * Returns the next candidates, the likeliest first: an operation with a reported balance, together with earlier
   * operations without one that explain that balance. No response lies between them, so all of them are candidates
   * now.
   */
  function* choices(): Generator<number[]> {
    const { found: possible, next } = candidates()
    const withBalance = possible.filter((number) => operationOf(number).balance !== null)
    const fits = (withoutBalance: readonly number[]) => {
      const before = withoutBalance.reduce((sum, number) => sum + operationOf(number).change, balance)
      const fitting = before < 0n ? [] : withBalance.filter((number) => canFollow(number, before, withoutBalance))
      return fitting.map((number) => [...withoutBalance, number])
    }
    const single = fits([])
    // A read changes nothing, so it can't exclude another order.
    const look = single.find(([number]) => operationOf(number as number).change === 0n)
    if (look) return yield look
    yield* single
    // A deposit can't exclude another order either, but operations whose balance does not include it must precede it.
    const isNextWithBalance = withBalance.includes(next)
    if (!isNextWithBalance) yield [next]
    const withoutBalance = possible.filter((number) => !withBalance.includes(number) && number !== next)
    for (let size = 1; size <= withoutBalance.length; size++)
      for (const some of subsets(withoutBalance, size)) yield* fits(some)
  }

  function canFollow(number: number, before: bigint, withoutBalance: readonly number[]): boolean {
    const { change, balance, follows } = operationOf(number)
    const earlier = follows && (numberOf.get(follows) as number)
    const isInOrder = earlier === undefined || isTaken[earlier] === 1 || withoutBalance.includes(earlier)
    return isInOrder && before + change === balance && balance >= 0n
  }

  return {
    take,
    giveBack,
    choices,
    isDone: () => first === answered.length,
    /** The set of linearized operations, as a cache key. */
    state: () => {
      const end = isTaken.lastIndexOf(1, answered.length - 1) + 1
      return `${first} ${isTaken.subarray(first, end).join('')} ${isTaken.subarray(answered.length).join('')}`
    },
    furthest: () => {
      const { start, end, change, balance } = operationOf(furthest)
      const place = `${furthest} of ${answered.length} operations`
      return `no order explains more than ${place} operations: at events ${start} to ${end} a change of ${change} can't result in ${balance}`
    },
  }
}

/** Returns every combination of `size` numbers. */
function* subsets(numbers: readonly number[], size: number): Generator<number[]> {
  if (size === 0) return yield []
  for (let i = 0; i <= numbers.length - size; i++) {
    for (const others of subsets(numbers.slice(i + 1), size - 1)) yield [numbers[i] as number, ...others]
  }
}
