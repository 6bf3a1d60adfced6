import type { Amount } from '../../core/money/amount.ts'
import type { BalanceDifference, WalletTotal } from '../../modules/imports/compare-balances.ts'
import type { ImportOutcome } from '../../modules/imports/import-outcome.ts'

export type ObjectKind = 'customers' | 'payout methods' | 'wallets'

type ImportProblem = { readonly object: ObjectKind; readonly id: string | null; readonly problem: string }

type ImportCounts = {
  readonly object: ObjectKind
  /** In a dry run, `imported` is the number of objects that would be imported. */
  readonly imported: number
  readonly same: number
  readonly problems: number
}

/**
 * `source` and `here` are sums of balances at the end of the import. `source` is the sum of the source's wallets.
 * `here` is the sum of all wallets of the merchant in this database.
 */
type AssetTotal = {
  readonly currency: string
  readonly wallets: number
  readonly source: Amount
  readonly here: Amount
  readonly isEqual: boolean
}

export type ImportReport = {
  /** Whether every object of the source exists in this database, with an equal balance. */
  readonly isComplete: boolean
  readonly isDryRun: boolean
  readonly rows: readonly ImportCounts[]
  /** The first problems. `rows` counts all problems. */
  readonly problems: readonly ImportProblem[]
  readonly unsupportedAssets: readonly string[]
  /** The totals are empty in a dry run, because a dry run compares no balances. */
  readonly totals: readonly AssetTotal[]
  readonly balancesCompared: number
  readonly balancesDiffering: number
  readonly balanceDifferences: readonly BalanceDifference[]
  readonly requests: number
  readonly seconds: number
  /** The estimated duration of a complete import, or `null` after a complete import. */
  readonly estimatedSeconds: number | null
}

const maxListed = 100

export function createTally() {
  const counts = new Map<ObjectKind, { imported: number; same: number; problem: number }>(
    (['customers', 'payout methods', 'wallets'] as const).map((object) => [
      object,
      { imported: 0, same: 0, problem: 0 },
    ]),
  )
  const problems: ImportProblem[] = []
  const differences: BalanceDifference[] = []
  const sums = new Map<string, { total: Amount; wallets: number }>()
  let compared = 0
  let differing = 0

  return {
    add: (object: ObjectKind, outcomes: readonly ImportOutcome[]) => {
      for (const each of outcomes) {
        const count = counts.get(object)
        if (count) count[each.outcome]++
        if (each.outcome === 'problem' && problems.length < maxListed) {
          problems.push({ object, id: each.id, problem: each.problem })
        }
      }
    },
    addBalances: (
      wallets: readonly { readonly currency: string; readonly balance: Amount }[],
      found: readonly BalanceDifference[],
    ) => {
      compared += wallets.length
      differing += found.length
      differences.push(...found.slice(0, maxListed - differences.length))
      for (const { currency, balance } of wallets) {
        const { total, wallets: count } = sums.get(currency) ?? { total: 0n, wallets: 0 }
        sums.set(currency, { total: total + balance, wallets: count + 1 })
      }
    },
    /** @param here `null` if no balances were compared */
    report: (here: readonly WalletTotal[] | null) => {
      const totals = here === null ? [] : compareTotals(sums, here)
      const hasProblems = [...counts.values()].some(({ problem }) => problem > 0)
      return {
        isComplete: here !== null && !hasProblems && differing === 0 && totals.every(({ isEqual }) => isEqual),
        rows: [...counts].map(([object, { problem, ...count }]) => ({ object, ...count, problems: problem })),
        problems,
        totals,
        balancesCompared: compared,
        balancesDiffering: differing,
        balanceDifferences: differences,
      }
    },
  }
}

export type Tally = ReturnType<typeof createTally>

function compareTotals(
  sums: ReadonlyMap<string, { total: Amount; wallets: number }>,
  here: readonly WalletTotal[],
): AssetTotal[] {
  const hereByCurrency = new Map(here.map((each) => [each.currency, each]))
  const currencies = [...new Set([...sums.keys(), ...hereByCurrency.keys()])].sort()
  return currencies.map((currency) => {
    const { total: source = 0n, wallets = 0 } = sums.get(currency) ?? {}
    const { total = 0n } = hereByCurrency.get(currency) ?? {}
    return { currency, wallets, source, here: total, isEqual: source === total }
  })
}
