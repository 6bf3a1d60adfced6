import type { Service } from '../context.ts'
import { blockSizes, wholeList } from '../database/counted-list.ts'
import type { Reader } from '../database/query.ts'
import { formatAmount, oneUnit } from '../money/amount.ts'
import {
  bookSizes,
  brokenSequences,
  depositsWithoutCredit,
  entriesOfAnotherAsset,
  orphanedTransfers,
  payoutsWithoutDebit,
  payoutsWithoutEvents,
  payoutsWithoutRefund,
  transfersOfAnotherCause,
  unbalancedTransfers,
  walletTotals,
  wrongBalances,
  wrongClearingAccounts,
  wrongListCounts,
  wrongReachableBalances,
  wrongRunningBalances,
} from './repository.ts'

/** One thing that was recomputed: how many contradictions there are, and the first few by id. */
export type Finding = { readonly check: string; readonly contradictions: number; readonly examples: readonly string[] }

/** The result of an audit: `wallets` is what wallets hold of each asset, as a decimal string of eight places. */
export type Audit = {
  readonly balanced: boolean
  readonly findings: readonly Finding[]
  readonly wallets: Readonly<Record<string, string>>
  readonly transfers: number
  readonly entries: number
  readonly payouts: number
}

type Check = (db: Reader) => Promise<readonly { readonly id: string }[]>

const checks: Readonly<Record<string, Check>> = {
  'every transfer balances': (db) => unbalancedTransfers(db, {}),
  'every entry is of its account’s asset': (db) => entriesOfAnotherAsset(db, {}),
  'every balance is the sum of its entries': (db) => wrongBalances(db, {}),
  'every statement adds up line by line': (db) => wrongRunningBalances(db, {}),
  'every payout was paid for': (db) => payoutsWithoutDebit(db, {}),
  'every payout that failed or came back was paid back': (db) => payoutsWithoutRefund(db, {}),
  'every deposit came in': (db) => depositsWithoutCredit(db, {}),
  'every wallet knows what was deposited in it': (db) => wrongReachableBalances(db, {}),
  'every transfer has its payout or deposit': (db) => orphanedTransfers(db, {}),
  'every transfer names its payout or deposit': (db) => transfersOfAnotherCause(db, {}),
  'every status has its events': (db) => payoutsWithoutEvents(db, {}),
  'clearing accounts are what payouts and deposits say': (db) => wrongClearingAccounts(db, {}),
  'sequences are dense': (db) => brokenSequences(db, {}),
  'maintained counts are right': async (db) => {
    const wrong = []
    for (const blockSize of [wholeList, ...blockSizes]) {
      // A block of everything: no number reaches the divisor.
      wrong.push(...(await wrongListCounts(db, { blockSize, divisor: blockSize || 2_147_483_647 })))
    }
    return wrong
  },
}

/**
 * Recomputes everything that the books say of themselves, over all merchants.
 *
 * It reads one snapshot, so it may run beside a server at work.
 *
 * @param onProgress called before each check with its name and its place among all
 */
export async function audit(
  service: Service,
  onProgress: (check: string, place: number, count: number) => void = () => {},
): Promise<Audit> {
  return service.db.snapshot((db) => auditOf(db, onProgress), { mayTakeLong: true })
}

async function auditOf(db: Reader, onProgress: (check: string, place: number, count: number) => void): Promise<Audit> {
  const findings: Finding[] = []
  const all = Object.entries(checks)
  for (const [place, [check, run]] of all.entries()) {
    onProgress(check, place + 1, all.length)
    const found = await run(db)
    findings.push({ check, contradictions: found.length, examples: found.slice(0, 5).map(({ id }) => id) })
  }
  const totals = await walletTotals(db, {})
  const [sizes] = await bookSizes(db, {})
  return {
    balanced: findings.every(({ contradictions }) => contradictions === 0),
    findings,
    wallets: Object.fromEntries(
      totals.map(({ assetCode, units, rest }) => [assetCode, formatAmount(units * oneUnit + rest)]),
    ),
    transfers: Number(sizes?.transfers ?? 0),
    entries: Number(sizes?.entries ?? 0),
    payouts: Number(sizes?.payouts ?? 0),
  }
}
