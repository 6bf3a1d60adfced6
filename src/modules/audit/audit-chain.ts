import type { Service } from '../../operations/context.ts'
import type { MerchantChainHead } from '../hash-chain/chain-heads.ts'
import { describeDifference } from '../hash-chain/first-difference.ts'
import type { ChainVerification } from '../hash-chain/verify-chain.ts'
import { verifyChain } from '../hash-chain/verify-chain.ts'
import type { AuditResult } from './audit.ts'

/** The result of an audit of history, in the form of one of the books. */
export type ChainAuditResult = Pick<AuditResult, 'balanced' | 'findings'> & { readonly chain: ChainVerification }

/**
 * Holds all history against its seals, over all merchants, and the seals against heads that were `kept` elsewhere. It recomputes
 * nothing: who changes what is stored in a way that adds up is found here, and not by `audit`.
 *
 * It may run beside a server at work.
 *
 * @param onProgress called with how many merchants were looked at, of how many
 */
export async function auditChain(
  { db }: Service,
  { kept = [] }: { readonly kept?: readonly MerchantChainHead[] } = {},
  onProgress: (check: string, place: number, count: number) => void = () => {},
): Promise<ChainAuditResult> {
  // What somebody else has done to the file in this very moment is seen too.
  db.refresh()
  const check = 'history is as it was sealed'
  const chain = await verifyChain(db, { savedHeads: kept, onProgress: (done, count) => onProgress(check, done, count) })
  const contradictions = chain.differences.length
  const examples = chain.differences.slice(0, 5).map(describeDifference)
  return { balanced: contradictions === 0, findings: [{ check, contradictions, examples }], chain }
}
