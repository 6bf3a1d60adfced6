import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { DomainError, invalidInput } from '../../core/errors.ts'
import { parseUuid, timestamp } from '../../core/ids-and-clock.ts'
import { oneOf, parseInput, positiveAmount, text, uuid } from '../../core/input.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { Tx } from '../../database/query.ts'
import type { Context, Service } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { defineInternalOperation } from '../../operations/define-operation.ts'
import { createMerchantContext } from '../merchants/merchant.ts'
import { parseTransactionHash, transactionHashFormat } from '../networks/input-formats.ts'
import type { Network } from '../networks/network.ts'
import { networks, requiredConfirmations } from '../networks/network.ts'
import { addDeposit } from '../wallets/deposit-to-wallet.ts'
import type { ChainDeposit, DepositTransition, NewChainDeposit } from './chain-deposit.ts'
import { causeWithReason, reorganisedCause, reportedStates, transitionOf } from './chain-deposit.ts'
import {
  claimChainEvent,
  insertChainDeposit,
  lockChainDeposit,
  merchantOfChainEvent,
  merchantOfWatchedAddress,
  similarDepositsInAttention,
  updateChainDeposit,
  watchedAddressById,
} from './repository.ts'

const maxInteger = 2_147_483_647

const ReportDepositInput = z.object({
  rail: text(),
  ref: uuid(),
  network: oneOf(networks),
  txHash: text(),
  logIndex: z.int().min(0).max(maxInteger),
  asset: text(),
  amount: positiveAmount(),
  confirmations: z.int().min(0).max(maxInteger),
  state: oneOf(reportedStates),
})

type DepositReportArgs = z.input<typeof ReportDepositInput>
type DepositReport = z.output<typeof ReportDepositInput>

/** The response to a deposit report must not disclose the owner of the address. */
export type ReportedDeposit = Pick<
  ChainDeposit,
  'network' | 'txHash' | 'logIndex' | 'state' | 'confirmations' | 'cause' | 'creditedAt'
> & {
  readonly needed: number
}

/** @throws DomainError INVALID_INPUT with every invalid field, including an unknown `ref` */
export async function receiveDepositReport(service: Service, input: DepositReportArgs): Promise<ReportedDeposit> {
  const addressId = parseUuid(input.ref)
  const owner = addressId === null ? null : await merchantOfWatchedAddress(service.db, { addressId })
  const { perform } = service
  if (owner) return perform(reportDeposit, await createMerchantContext(service, owner.merchantId), input)
  parseReport(input)
  throw unknownRefError()
}

/**
 * Credits the wallet once, when the blockchain transfer has enough confirmations. If a report contradicts an earlier
 * report, or the wallet cannot be credited, no money moves, and the deposit goes to the attention queue.
 *
 * @throws DomainError INVALID_INPUT with every invalid field
 */
export const reportDeposit = defineInternalOperation(
  'reportDeposit',
  async (context: Context, input: DepositReportArgs): Promise<ReportedDeposit> => {
    const report = parseReport(input)
    const deposit = await context.db.write((tx) => recordReport(tx, context, report))
    const { network, txHash, logIndex, state, confirmations, cause, creditedAt } = deposit
    const needed = requiredConfirmations(network)
    return { network, txHash, logIndex, state, confirmations, needed, cause, creditedAt }
  },
)

function parseReport(input: DepositReportArgs): DepositReport {
  const report = parseInput(ReportDepositInput, input, transactionHashErrors(input))
  return { ...report, txHash: parseTransactionHash(report.network, report.txHash) ?? report.txHash }
}

function transactionHashErrors({ network, txHash }: DepositReportArgs): FieldError[] {
  if (!networks.includes(network) || typeof txHash !== 'string' || txHash.trim() === '') return []
  if (parseTransactionHash(network, txHash.trim()) !== null) return []
  return [
    { field: 'txHash', code: 'INVALID_FORMAT', message: `must be ${transactionHashFormat(network)} on ${network}` },
  ]
}

async function recordReport(tx: Tx, context: Context, report: DepositReport): Promise<ChainDeposit> {
  const { merchantId } = context
  const reference = referenceOf(report)
  const address = await watchedAddressById(tx, { merchantId, addressId: report.ref })
  if (!address) throw unknownRefError()
  requireMatchingWallet(report, address)

  const deposit = await lockOrClaimDeposit(tx, { merchantId, reference })
  if (!deposit) return recordDetection(tx, context, { report, reference, walletId: address.walletId })
  const cause = contradictionOf(deposit, report)
  if (cause !== null) return recordContradiction(tx, context, { deposit, cause })
  const transition = transitionOf(deposit, report, requiredConfirmations(deposit.network))
  return transition === null ? deposit : applyTransition(tx, context, { deposit, transition })
}

/** The reference of a deposit is unique, so that a blockchain transfer is credited only once. */
function referenceOf({ network, txHash, logIndex }: Pick<DepositReport, 'network' | 'txHash' | 'logIndex'>): string {
  return `${network}:${txHash}:${logIndex}`
}

function unknownRefError(): DomainError {
  return invalidInput([{ field: 'ref', code: 'INVALID_PARAMETER', message: 'must be the ref of a watched address' }])
}

function requireMatchingWallet(
  report: DepositReport,
  { network, currency }: { network: Network; currency: string },
): void {
  const errors: FieldError[] = []
  const addMismatch = (field: 'network' | 'asset', expected: string) =>
    errors.push({ field, code: 'INVALID_PARAMETER', message: `must be ${expected}, as the list of addresses says` })
  if (report.network !== network) addMismatch('network', network)
  if (report.asset !== currency) addMismatch('asset', currency)
  if (errors.length > 0) throw invalidInput(errors)
}

/**
 * Returns the locked deposit, which can belong to any merchant. If no deposit has this reference, claims the reference
 * for this merchant and returns `null`.
 */
async function lockOrClaimDeposit(tx: Tx, { merchantId, reference }: { merchantId: string; reference: string }) {
  const own = await lockChainDeposit(tx, { merchantId, reference })
  if (own || (await claimChainEvent(tx, { merchantId, reference }))) return own
  const owner = await merchantOfChainEvent(tx, { reference })
  const deposit = owner && (await lockChainDeposit(tx, { merchantId: owner.merchantId, reference }))
  if (!deposit) throw new Error(`the chain event ${reference} is claimed but its deposit is missing`)
  return deposit
}

type DetectedDeposit = { readonly report: DepositReport; readonly reference: string; readonly walletId: string }

async function recordDetection(
  tx: Tx,
  context: Context,
  { report, reference, walletId }: DetectedDeposit,
): Promise<ChainDeposit> {
  const { network, txHash, logIndex, asset, amount, rail, ref } = report
  const time = timestamp(context.now())
  const deposit: NewChainDeposit = {
    ...{ merchantId: context.merchantId, network, txHash, logIndex, reference, addressId: ref, walletId },
    ...{ assetCode: asset, amount, confirmations: 0, state: 'DETECTED', cause: null, depositReference: null, rail },
    ...{ detectedAt: time, creditedAt: null, updatedAt: time },
  }
  await insertChainDeposit(tx, deposit)
  const transition = transitionOf(deposit, report, requiredConfirmations(network))
  return transition === null ? deposit : applyTransition(tx, context, { deposit, transition })
}

function contradictionOf(deposit: ChainDeposit, { ref, amount }: DepositReport): string | null {
  if (deposit.addressId !== ref) return 'it was reported for two addresses'
  if (deposit.amount === amount) return null
  return `it was reported as ${formatAmount(deposit.amount)} and as ${formatAmount(amount)}`
}

async function recordContradiction(
  tx: Tx,
  context: Context,
  { deposit, cause }: { deposit: ChainDeposit; cause: string },
): Promise<ChainDeposit> {
  // A later contradictory report must not overwrite the first contradiction or the operator's decision.
  if (deposit.state === 'ATTENTION' || deposit.state === 'DISMISSED') return deposit
  if (deposit.cause?.startsWith(causeWithReason(cause, ''))) return deposit
  return storeDeposit(tx, context, { ...deposit, state: 'ATTENTION', cause })
}

type DepositTransitionArgs = { readonly deposit: ChainDeposit; readonly transition: DepositTransition }

async function applyTransition(
  tx: Tx,
  context: Context,
  { deposit, transition }: DepositTransitionArgs,
): Promise<ChainDeposit> {
  const { isCreditDue, ...changes } = transition
  const changed = { ...deposit, ...changes }
  if (!isCreditDue) return storeDeposit(tx, context, changed)
  const error = await creditDeposit(tx, context, deposit)
  if (error !== null) return storeDeposit(tx, context, { ...changed, state: 'ATTENTION', cause: error })
  const creditedAt = timestamp(context.now())
  return storeDeposit(tx, context, { ...changed, depositReference: deposit.reference, creditedAt })
}

/** Returns `null` if the wallet was credited, otherwise the reason why the wallet was not credited. */
async function creditDeposit(tx: Tx, context: Context, deposit: ChainDeposit): Promise<string | null> {
  const { merchantId, network, txHash, addressId, walletId, amount, reference } = deposit
  // After a chain reorganization, the same blockchain transaction can appear with different log indexes. The wallet
  // must not be credited twice.
  const key = { merchantId, network, txHash, addressId, amount, cause: reorganisedCause }
  const [similar] = await similarDepositsInAttention(tx, key)
  if (similar)
    return `${similar.reference} has the same amount and address in the same transaction, and the chain reorganized after it was credited`
  try {
    await addDeposit(tx, context, { walletId, amount, reference })
    return null
  } catch (error) {
    if (error instanceof DomainError && tolerableCreditErrors.includes(error.code)) return error.message
    throw error
  }
}

/** An operation that throws one of these errors has written nothing, so the database transaction can continue. */
const tolerableCreditErrors = ['BALANCE_LIMIT_EXCEEDED', 'DEPOSIT_REFERENCE_REUSED']

async function storeDeposit(tx: Tx, context: Context, changed: ChainDeposit): Promise<ChainDeposit> {
  const deposit = { ...changed, updatedAt: newUpdatedAt(context, changed) }
  await updateChainDeposit(tx, deposit)
  return deposit
}
