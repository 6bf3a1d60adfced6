/** What a client asked of a wallet and what it was told; amounts are in units. */
export type Operation = {
  /** Its places among all events: when it was asked for, and when answered; `end` is null where no answer came. */
  readonly start: number
  readonly end: number | null
  /** What it adds to the balance: less than nothing for a payout, and nothing for a look. */
  readonly change: bigint
  /** The balance after it, where the answer says that: every answer does but a deposit's. */
  readonly balance: bigint | null
  /** One of the same history that it comes after in any case, such as the deposit whose answer shows the wallet. */
  readonly follows?: Operation
}

/** Orders that are begun before giving up: a legal history takes hardly more than it has operations. */
const statesLimit = 1_000_000

/**
 * Whether a wallet's history is linearizable: whether its operations can be put in one order, each at a moment between
 * its question and its answer, in which every balance is the one that was told and none is below zero. One without an
 * answer may have happened at any time after it was asked for, or never.
 *
 * This is the search of Wing and Gong, which takes what may come next and turns back where nothing can, with Lowe's
 * memory of what had been taken before. The balances that were told leave it few choices.
 *
 * @returns null, or in words how far it can be explained
 * @throws when there are too many orders to tell
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
    if (seen.add(state).size > statesLimit) throw new Error('this history has too many orders to tell')
  }
  return null
}

/** What has been put in order so far, and what may come next. */
function searchThrough(opening: bigint, history: readonly Operation[]) {
  const byStart = history.toSorted((one, other) => one.start - other.start)
  const answered = byStart.filter(({ end }) => end !== null)
  // A look that was not answered says nothing.
  const unanswered = byStart.filter(({ end, change }) => end === null && change !== 0n)
  const all = [...answered, ...unanswered]
  const numberOf = new Map(all.map((operation, number) => [operation, number]))
  const operationOf = (number: number) => all[number] as Operation
  const isTaken = new Uint8Array(all.length)
  let balance = opening
  /** Every answered one before it is taken. */
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

  /** What was asked for before anything that is not taken was answered, and the one that was answered first. */
  function candidates() {
    const found: number[] = []
    let next = first
    const nextEnd = () => operationOf(next).end as number
    for (let number = first; number < answered.length && operationOf(number).start < nextEnd(); number++) {
      if (isTaken[number]) continue
      found.push(number)
      if ((operationOf(number).end as number) < nextEnd()) next = number
    }
    for (let number = answered.length; number < all.length && operationOf(number).start < nextEnd(); number++) {
      if (!isTaken[number]) found.push(number)
    }
    return { found, next }
  }

  /**
   * What may be taken next, the likeliest first: one that told the balance, together with those before it of which nobody
   * told and that make the balance what it must be. In between nothing is answered, so all of them are candidates now.
   */
  function* choices(): Generator<number[]> {
    const { found, next } = candidates()
    const told = found.filter((number) => operationOf(number).balance !== null)
    const fits = (untold: readonly number[]) => {
      const before = untold.reduce((sum, number) => sum + operationOf(number).change, balance)
      const fitting = before < 0n ? [] : told.filter((number) => canFollow(number, before, untold))
      return fitting.map((number) => [...untold, number])
    }
    const atOnce = fits([])
    // It changes nothing and so stands in nobody's way.
    const look = atOnce.find(([number]) => operationOf(number as number).change === 0n)
    if (look) return yield look
    yield* atOnce
    // A deposit stands in nobody's way either, but what was told without it must come before.
    const isNextTold = told.includes(next)
    if (!isNextTold) yield [next]
    const untold = found.filter((number) => !told.includes(number) && number !== next)
    for (let size = 1; size <= untold.length; size++) for (const some of subsets(untold, size)) yield* fits(some)
  }

  function canFollow(number: number, before: bigint, untold: readonly number[]): boolean {
    const { change, balance, follows } = operationOf(number)
    const earlier = follows && (numberOf.get(follows) as number)
    const isInOrder = earlier === undefined || isTaken[earlier] === 1 || untold.includes(earlier)
    return isInOrder && before + change === balance && balance >= 0n
  }

  return {
    take,
    giveBack,
    choices,
    isDone: () => first === answered.length,
    /** Which are taken, for the memory. */
    state: () => {
      const end = isTaken.lastIndexOf(1, answered.length - 1) + 1
      return `${first} ${isTaken.subarray(first, end).join('')} ${isTaken.subarray(answered.length).join('')}`
    },
    furthest: () => {
      const { start, end, change, balance } = operationOf(furthest)
      const place = `${furthest} of ${answered.length} operations`
      return `no order explains more than ${place}: not that at events ${start} to ${end} a change of ${change} made ${balance}`
    },
  }
}

/** Every choice of `size` numbers. */
function* subsets(numbers: readonly number[], size: number): Generator<number[]> {
  if (size === 0) return yield []
  for (let i = 0; i <= numbers.length - size; i++) {
    for (const others of subsets(numbers.slice(i + 1), size - 1)) yield [numbers[i] as number, ...others]
  }
}
