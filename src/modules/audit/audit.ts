import { DomainError } from '../../core/errors.ts'
import { amountFromParts, formatAmount } from '../../core/money/amount.ts'
import type { SchemaCheck } from '../../database/migration.ts'
import type { Reader } from '../../database/query.ts'
import { findWrongListCounts } from '../../lists/audit-counts.ts'
import { blockSizes, wholeListBlockSize } from '../../lists/counted-list.ts'
import type { Service } from '../../operations/context.ts'
import { describeDifference } from '../hash-chain/first-difference.ts'
import type { ChainVerification, MerchantChainHead } from '../hash-chain/verify-chain.ts'
import { verifyChain } from '../hash-chain/verify-chain.ts'
// Importing these modules registers their lists, so that the audit checks the stored row counts of the lists.
import '../payout-methods/list.ts'
import '../wallets/list.ts'
import { isPayoutIntact } from '../payouts/payout-checksum.ts'
import { findWrongBalanceChanges } from './find-wrong-balance-changes.ts'
import { findWrongSearchKeys } from './find-wrong-search-keys.ts'
import { findWrongStatistics } from './find-wrong-statistics.ts'
import {
  brokenSequences,
  depositsWithoutCredit,
  duplicateQueries,
  ledgerSizes,
  malformedTransfers,
  orphanedTransfers,
  payoutsAfter,
  payoutsWithoutDebit,
  payoutsWithoutRefund,
  payoutsWithWrongStatus,
  reversalsWithoutDebit,
  transfersWithWrongAsset,
  transfersWithWrongCause,
  unsettledPayouts,
  walletTotals,
  wrongBalances,
  wrongChainDeposits,
  wrongClearingAccounts,
  wrongEvents,
  wrongEventVersions,
  wrongOpenings,
  wrongRailOrders,
  wrongReachableBalances,
  wrongRunningBalances,
} from './repository.ts'

type AuditFinding = { readonly check: string; readonly contradictions: number; readonly examples: readonly string[] }

/** `unchecked` lists checks that did not run, with the reason. */
export type AuditResult = {
  readonly balanced: boolean
  readonly unchecked: string | null
  readonly findings: readonly AuditFinding[]
  readonly wallets: Readonly<Record<string, string>>
  readonly transfers: number
  readonly entries: number
  readonly payouts: number
}

type AuditCheck = (db: Reader) => Promise<readonly { readonly id: string }[]>

const auditChecks: Readonly<Record<string, AuditCheck>> = {
  'every transfer has the fields that its kind requires': async (db) => malformedTransfers(db, {}),
  'every transfer has the asset of its wallet': async (db) => transfersWithWrongAsset(db, {}),
  'every balance equals the sum of its ledger entries': async (db) => wrongBalances(db, {}),
  'every running balance equals the sum of the entries so far': async (db) => wrongRunningBalances(db, {}),
  'every payout has a debit of its wallet': async (db) => payoutsWithoutDebit(db, {}),
  'every completed payout has a settlement transfer': async (db) => unsettledPayouts(db, {}),
  'every failed or returned payout has a refund transfer': async (db) => payoutsWithoutRefund(db, {}),
  'every deposit has a credit of its wallet': async (db) => depositsWithoutCredit(db, {}),
  'every deposit reversal has a debit of its wallet': async (db) => reversalsWithoutDebit(db, {}),
  'every credited blockchain transfer has its deposit': async (db) => wrongChainDeposits(db, {}),
  'every wallet has the correct total of its deposits': async (db) => wrongReachableBalances(db, {}),
  'every opening balance belongs to an imported wallet': async (db) => wrongOpenings(db, {}),
  'every ledger transfer has a payout or deposit': async (db) => orphanedTransfers(db, {}),
  'every ledger transfer refers to its own payout or deposit': async (db) => transfersWithWrongCause(db, {}),
  'every payout has the events of its status': async (db) => payoutsWithWrongStatus(db, {}),
  'clearing accounts match the payouts and deposits': async (db) => wrongClearingAccounts(db, {}),
  'every payout, deposit, wallet and customer has its events': async (db) => wrongEvents(db, {}),
  'the events of each object are numbered without a gap': async (db) => wrongEventVersions(db, {}),
  'every payout matches the state of its rail order': async (db) => wrongRailOrders(db, {}),
  'sequence numbers have no gaps': async (db) => brokenSequences(db, {}),
  'no unique column has a duplicate value': async (db) => {
    const found = []
    for (const find of duplicateQueries) found.push(...(await find(db, {})))
    return found
  },
  'every payout matches its checksum': async (db) => {
    const changed = []
    let after = { merchant: '00000000-0000-0000-0000-000000000000', sequence: 0 }
    for (;;) {
      const payouts = await payoutsAfter(db, { ...after, limit: payoutBatchSize })
      changed.push(...payouts.filter((payout) => !isPayoutIntact(payout)))
      const last = payouts.at(-1)
      if (last === undefined) return changed
      after = { merchant: last.merchantId, sequence: last.sequence }
    }
  },
  'stored counts of lists are correct': async (db) => {
    const wrong = []
    for (const blockSize of [wholeListBlockSize, ...blockSizes]) {
      // A division by more than the largest sequence number assigns all rows of a list to one block.
      wrong.push(...(await findWrongListCounts(db, { blockSize, divisor: blockSize || 2_147_483_647 })))
    }
    return wrong
  },
  'payout statistics match the payouts': findWrongStatistics,
  'daily balance changes match the ledger': findWrongBalanceChanges,
  'search keys match the customers': findWrongSearchKeys,
}

/** On PostgreSQL, the query for each batch scans the whole table `payouts`. A larger batch would need more memory. */
const payoutBatchSize = 20_000

const engineCheckName = 'the database finds no damage in its files'

/** Without the triggers, indexes, constraints and policies, the database would accept wrong data. */
const schemaCheckName = 'the schema matches the migrations'

/**
 * Runs all checks in one snapshot. The service can run during the audit.
 *
 * @param onProgress called before each check, and after the last
 */
export async function auditBooks(
  service: Service,
  onProgress: (check: string, done: number, count: number) => void = () => {},
): Promise<AuditResult> {
  const count = Object.keys(auditChecks).length + 2
  onProgress(engineCheckName, 0, count)
  const { errors, unchecked } = await service.db.selfCheck()
  onProgress(schemaCheckName, 1, count)
  const { differences, unchecked: uncheckedSchema } = await checkSchema(service.db)
  const engineFindings = [
    createEngineFinding(engineCheckName, errors),
    createEngineFinding(schemaCheckName, differences),
  ]
  const result = await service.db.snapshot(
    (db) => runChecks(db, engineFindings, (check, done) => onProgress(check, done + 2, count)),
    { mayTakeLong: true },
  )
  onProgress('all checks', count, count)
  const reasons = [unchecked, uncheckedSchema].filter((reason) => reason !== null)
  return { ...result, unchecked: reasons.length === 0 ? null : reasons.join('; ') }
}

/** Describes the first three failed checks, or returns `null` if every check passed. */
export function describeFailedChecks(findings: readonly AuditFinding[]): string | null {
  const failed = findings.filter(({ contradictions }) => contradictions > 0).slice(0, 3)
  if (failed.length === 0) return null
  return failed.map(({ check, examples }) => `the check "${check}" failed, for example for ${examples[0]}`).join('; ')
}

function createEngineFinding(check: string, errors: readonly string[]): AuditFinding {
  return { check, contradictions: errors.length, examples: errors.slice(0, 5) }
}

async function checkSchema(db: Service['db']): Promise<Pick<SchemaCheck, 'differences' | 'unchecked'>> {
  try {
    return await db.checkSchema()
  } catch (error) {
    if (error instanceof DomainError) throw error
    return { differences: [(error as Error).message], unchecked: null }
  }
}

async function runChecks(
  db: Reader,
  engineFindings: readonly AuditFinding[],
  onProgress: (check: string, done: number) => void,
): Promise<Omit<AuditResult, 'unchecked'>> {
  const findings: (AuditFinding & { isReadable?: boolean })[] = [...engineFindings]
  for (const [i, [check, run]] of Object.entries(auditChecks).entries()) {
    onProgress(check, i)
    findings.push(await runCheck(check, run(db)))
  }
  // If a table cannot be read, `walletTotals` would throw, and the caller would not get the findings.
  const isReadable = findings.every(({ isReadable }) => isReadable !== false)
  const totals = isReadable ? await walletTotals(db, {}) : []
  const [sizes] = isReadable ? await ledgerSizes(db, {}) : []
  return {
    balanced: findings.every(({ contradictions }) => contradictions === 0),
    findings: findings.map(({ check, contradictions, examples }) => ({ check, contradictions, examples })),
    wallets: Object.fromEntries(
      totals.map(({ assetCode, units, rest }) => [assetCode, formatAmount(amountFromParts(units, rest))]),
    ),
    transfers: Number(sizes?.transfers ?? 0),
    entries: Number(sizes?.entries ?? 0),
    payouts: Number(sizes?.payouts ?? 0),
  }
}

async function runCheck(check: string, rows: ReturnType<AuditCheck>): Promise<AuditFinding & { isReadable?: boolean }> {
  try {
    const ids = (await rows).map(({ id }) => id)
    return { check, contradictions: ids.length, examples: ids.slice(0, 5) }
  } catch (error) {
    if (error instanceof DomainError) throw error
    return { check, contradictions: 1, examples: [(error as Error).message], isReadable: false }
  }
}

export type ChainAuditResult = Pick<AuditResult, 'balanced' | 'findings'> & { readonly chain: ChainVerification }

/**
 * Detects changed rows even if all balances are still correct.
 *
 * @param kept chain heads that were saved outside of the database
 * @param onProgress called with the number of verified merchants
 */
export async function auditChain(
  { db }: Service,
  { kept = [] }: { readonly kept?: readonly MerchantChainHead[] } = {},
  onProgress: (check: string, done: number, count: number) => void = () => {},
): Promise<ChainAuditResult> {
  // Without `refresh`, this connection might not see the latest commits of other processes.
  db.refresh()
  const check = 'the history matches its seals'
  const chain = await verifyChain(db, { savedHeads: kept, onProgress: (done, count) => onProgress(check, done, count) })
  const contradictions = chain.differences.length
  const examples = chain.differences.slice(0, 5).map(describeDifference)
  return { balanced: contradictions === 0, findings: [{ check, contradictions, examples }], chain }
}
