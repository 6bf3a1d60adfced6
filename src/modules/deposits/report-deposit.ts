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

/** What an integer column holds at most. */
const maxInteger = 2_147_483_647

const ReportDepositInput = z.object({
  /** Which rail reports. */
  rail: text(),
  /** The address, as the list of watched addresses names it. */
  ref: uuid(),
  network: oneOf(networks),
  txHash: text(),
  /** The place of the transfer among the logs of its transaction. */
  logIndex: z.int().min(0).max(maxInteger),
  asset: text(),
  amount: positiveAmount(),
  confirmations: z.int().min(0).max(maxInteger),
  state: oneOf(reportedStates),
})

type DepositReportArgs = z.input<typeof ReportDepositInput>
type DepositReport = z.output<typeof ReportDepositInput>

/** What has become of a reported transfer; nothing of whose it is. */
export type ReportedDeposit = Pick<
  ChainDeposit,
  'network' | 'txHash' | 'logIndex' | 'state' | 'confirmations' | 'cause' | 'creditedAt'
> & {
  /** The confirmations at which it is credited. */
  readonly needed: number
}

/**
 * Takes what a node says, for whichever merchant the address is of.
 *
 * @throws Refusal INVALID_INPUT that names every faulty field, also a ref that no address has
 */
export async function receiveDepositReport(service: Service, input: DepositReportArgs): Promise<ReportedDeposit> {
  const addressId = parseUuid(input.ref)
  const owner = addressId === null ? null : await merchantOfWatchedAddress(service.db, { addressId })
  const { perform } = service
  if (owner) return perform(reportDeposit, await createMerchantContext(service, owner.merchantId), input)
  parseReport(input)
  throw unknownRefError()
}

/**
 * Records what a node says of a transfer to one of the merchant's addresses, and credits it once, when enough was built on it.
 *
 * What contradicts an earlier report moves no money, and neither does what can't be credited: both are kept for a person to
 * look at (`ATTENTION`), so that no report is lost.
 *
 * @throws Refusal INVALID_INPUT that names every faulty field
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

  const known = await lockOrClaimDeposit(tx, { merchantId, reference })
  if (!known) return recordDetection(tx, context, { report, reference, walletId: address.walletId })
  const cause = contradictionOf(known, report)
  if (cause !== null) return recordContradiction(tx, context, { known, cause })
  const consequence = transitionOf(known, report, requiredConfirmations(known.network))
  return consequence === null ? known : applyTransition(tx, context, { deposit: known, transition: consequence })
}

/** The same reference as that of the deposit, which pays once. */
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
  const faults: FieldError[] = []
  const addMismatch = (field: 'network' | 'asset', is: string) =>
    faults.push({ field, code: 'INVALID_PARAMETER', message: `must be ${is}, as the list of addresses says` })
  if (report.network !== network) addMismatch('network', network)
  if (report.asset !== currency) addMismatch('asset', currency)
  if (faults.length > 0) throw invalidInput(faults)
}

/** What is known of an event, whosever it is; `null` for a new one, which is this merchant's from now on. */
async function lockOrClaimDeposit(tx: Tx, { merchantId, reference }: { merchantId: string; reference: string }) {
  const own = await lockChainDeposit(tx, { merchantId, reference })
  if (own || (await claimChainEvent(tx, { merchantId, reference }))) return own
  const owner = await merchantOfChainEvent(tx, { reference })
  const known = owner && (await lockChainDeposit(tx, { merchantId: owner.merchantId, reference }))
  if (!known) throw new Error(`the event ${reference} is somebody's and not there`)
  return known
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
  const consequence = transitionOf(deposit, report, requiredConfirmations(network))
  return consequence === null ? deposit : applyTransition(tx, context, { deposit, transition: consequence })
}

/** Why two reports can't both be true; `null` where they can. */
function contradictionOf(known: ChainDeposit, { ref, amount }: DepositReport): string | null {
  if (known.addressId !== ref) return 'it was reported for two addresses'
  if (known.amount === amount) return null
  return `it was reported as ${formatAmount(known.amount)} and as ${formatAmount(amount)}`
}

async function recordContradiction(
  tx: Tx,
  context: Context,
  { known, cause }: { known: ChainDeposit; cause: string },
): Promise<ChainDeposit> {
  // The first that was found is what a person looks at, and what was decided stands.
  if (known.state === 'ATTENTION' || known.state === 'DISMISSED') return known
  // Who has said so once says so again.
  if (known.cause?.startsWith(causeWithReason(cause, ''))) return known
  return storeDeposit(tx, context, { ...known, state: 'ATTENTION', cause })
}

type DepositTransitionArgs = { readonly deposit: ChainDeposit; readonly transition: DepositTransition }

async function applyTransition(
  tx: Tx,
  context: Context,
  { deposit, transition: consequence }: DepositTransitionArgs,
): Promise<ChainDeposit> {
  const { isCreditDue: isDue, ...changes } = consequence
  const changed = { ...deposit, ...changes }
  if (!isDue) return storeDeposit(tx, context, changed)
  const fault = await creditDeposit(tx, context, deposit)
  if (fault !== null) return storeDeposit(tx, context, { ...changed, state: 'ATTENTION', cause: fault })
  const creditedAt = timestamp(context.now())
  return storeDeposit(tx, context, { ...changed, depositReference: deposit.reference, creditedAt })
}

/** Credits the wallet; what it can't be credited for is answered, and nothing has moved then. */
async function creditDeposit(tx: Tx, context: Context, deposit: ChainDeposit): Promise<string | null> {
  const { merchantId, network, txHash, addressId, walletId, amount, reference } = deposit
  // A transaction that is mined again may have its logs at other places: that would be the same money twice.
  const key = { merchantId, network, txHash, addressId, amount, cause: reorganisedCause }
  const [alike] = await similarDepositsInAttention(tx, key)
  if (alike)
    return `${alike.reference} is as much to the same address, and the chain has let go of it after it was credited`
  try {
    await addDeposit(tx, context, { walletId, amount, reference })
    return null
  } catch (error) {
    if (error instanceof DomainError && tolerableCreditErrors.includes(error.code)) return error.message
    throw error
  }
}

/** Refusals that leave the transaction as it was: the wallet is full, or somebody has entered another deposit by this reference. */
const tolerableCreditErrors = ['BALANCE_LIMIT_EXCEEDED', 'DEPOSIT_REFERENCE_REUSED']

async function storeDeposit(tx: Tx, context: Context, changed: ChainDeposit): Promise<ChainDeposit> {
  const deposit = { ...changed, updatedAt: newUpdatedAt(context, changed) }
  await updateChainDeposit(tx, deposit)
  return deposit
}
