import { z } from 'zod'
import type { FieldFault } from '../../core/errors.ts'
import { invalidInput, Refusal } from '../../core/errors.ts'
import { parseUuid, timestamp } from '../../core/ids.ts'
import { oneOf, parse, positiveAmount, text, uuid } from '../../core/input.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { Tx } from '../../database/query.ts'
import type { Context, Service } from '../../operations/context.ts'
import { timeOfChange } from '../../operations/context.ts'
import { contextByClock } from '../merchants/sandbox-clock.ts'
import type { Network } from '../networks/network.ts'
import { confirmationsNeeded, networks } from '../networks/network.ts'
import { readTransactionHash, transactionHashForm } from '../networks/transaction-hash.ts'
import { addDeposit } from '../wallets/deposit-to-wallet.ts'
import type { ChainDeposit, Consequence, NewChainDeposit } from './chain-deposit.ts'
import { consequenceOf, decidedCause, reorganised, reportedStates } from './chain-deposit.ts'
import {
  addressById,
  alikeInAttention,
  claimEvent,
  insertChainDeposit,
  lockChainDeposit,
  ownerOfAddress,
  ownerOfEvent,
  storeChainDeposit,
} from './repository.ts'

/** What an integer column holds at most. */
const mostOfInteger = 2_147_483_647

const ReportDepositInput = z.object({
  /** Which rail reports. */
  rail: text(),
  /** The address, as the list of watched addresses names it. */
  ref: uuid(),
  network: oneOf(networks),
  txHash: text(),
  /** The place of the transfer among the logs of its transaction. */
  logIndex: z.int().min(0).max(mostOfInteger),
  asset: text(),
  amount: positiveAmount(),
  confirmations: z.int().min(0).max(mostOfInteger),
  state: oneOf(reportedStates),
})

type Input = z.input<typeof ReportDepositInput>
type Report = z.output<typeof ReportDepositInput>

/** What has become of a reported transfer; nothing of whose it is. */
export type Reported = Pick<
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
export async function takeReport(service: Service, input: Input): Promise<Reported> {
  const addressId = parseUuid(input.ref)
  const owner = addressId === null ? null : await ownerOfAddress(service.db, { addressId })
  const { perform } = service
  if (owner) return perform(reportDeposit, await contextByClock(service, owner.merchantId), input)
  parseReport(input)
  throw unknownRef()
}

/**
 * Records what a node says of a transfer to one of the merchant's addresses, and credits it once, when enough was built on it.
 *
 * What contradicts an earlier report moves no money, and neither does what can't be credited: both are kept for a person to
 * look at (`ATTENTION`), so that no report is lost.
 *
 * @throws Refusal INVALID_INPUT that names every faulty field
 */
export async function reportDeposit(context: Context, input: Input): Promise<Reported> {
  const report = parseReport(input)
  const deposit = await context.db.write((tx) => recordReport(tx, context, report))
  const { network, txHash, logIndex, state, confirmations, cause, creditedAt } = deposit
  const needed = confirmationsNeeded(network)
  return { network, txHash, logIndex, state, confirmations, needed, cause, creditedAt }
}

function parseReport(input: Input): Report {
  const report = parse(ReportDepositInput, input, hashFault(input))
  return { ...report, txHash: readTransactionHash(report.network, report.txHash) ?? report.txHash }
}

function hashFault({ network, txHash }: Input): FieldFault[] {
  if (!networks.includes(network) || typeof txHash !== 'string' || txHash.trim() === '') return []
  if (readTransactionHash(network, txHash.trim()) !== null) return []
  return [{ field: 'txHash', code: 'INVALID_FORMAT', message: `must be ${transactionHashForm(network)} on ${network}` }]
}

async function recordReport(tx: Tx, context: Context, report: Report): Promise<ChainDeposit> {
  const { merchantId } = context
  const reference = referenceOf(report)
  const address = await addressById(tx, { merchantId, addressId: report.ref })
  if (!address) throw unknownRef()
  requireOfWallet(report, address)

  const known = await lockKnown(tx, { merchantId, reference })
  if (!known) return detect(tx, context, { report, reference, walletId: address.walletId })
  const cause = contradictionOf(known, report)
  if (cause !== null) return contradict(tx, context, { known, cause })
  const consequence = consequenceOf(known, report, confirmationsNeeded(known.network))
  return consequence === null ? known : follow(tx, context, { deposit: known, consequence })
}

/** The same reference as that of the deposit, which pays once. */
function referenceOf({ network, txHash, logIndex }: Pick<Report, 'network' | 'txHash' | 'logIndex'>): string {
  return `${network}:${txHash}:${logIndex}`
}

function unknownRef(): Refusal {
  return invalidInput([{ field: 'ref', code: 'INVALID_PARAMETER', message: 'must be the ref of a watched address' }])
}

function requireOfWallet(report: Report, { network, currency }: { network: Network; currency: string }): void {
  const faults: FieldFault[] = []
  const isNot = (field: 'network' | 'asset', is: string) =>
    faults.push({ field, code: 'INVALID_PARAMETER', message: `must be ${is}, as the list of addresses says` })
  if (report.network !== network) isNot('network', network)
  if (report.asset !== currency) isNot('asset', currency)
  if (faults.length > 0) throw invalidInput(faults)
}

/** What is known of an event, whosever it is; `null` for a new one, which is this merchant's from now on. */
async function lockKnown(tx: Tx, { merchantId, reference }: { merchantId: string; reference: string }) {
  const own = await lockChainDeposit(tx, { merchantId, reference })
  if (own || (await claimEvent(tx, { merchantId, reference }))) return own
  const owner = await ownerOfEvent(tx, { reference })
  const known = owner && (await lockChainDeposit(tx, { merchantId: owner.merchantId, reference }))
  if (!known) throw new Error(`the event ${reference} is somebody's and not there`)
  return known
}

type Detected = { readonly report: Report; readonly reference: string; readonly walletId: string }

async function detect(tx: Tx, context: Context, { report, reference, walletId }: Detected): Promise<ChainDeposit> {
  const { network, txHash, logIndex, asset, amount, rail, ref } = report
  const time = timestamp(context.now())
  const deposit: NewChainDeposit = {
    ...{ merchantId: context.merchantId, network, txHash, logIndex, reference, addressId: ref, walletId },
    ...{ assetCode: asset, amount, confirmations: 0, state: 'DETECTED', cause: null, depositReference: null, rail },
    ...{ detectedAt: time, creditedAt: null, updatedAt: time },
  }
  await insertChainDeposit(tx, deposit)
  const consequence = consequenceOf(deposit, report, confirmationsNeeded(network))
  return consequence === null ? deposit : follow(tx, context, { deposit, consequence })
}

/** Why two reports can't both be true; `null` where they can. */
function contradictionOf(known: ChainDeposit, { ref, amount }: Report): string | null {
  if (known.addressId !== ref) return 'it was reported for two addresses'
  if (known.amount === amount) return null
  return `it was reported as ${formatAmount(known.amount)} and as ${formatAmount(amount)}`
}

async function contradict(
  tx: Tx,
  context: Context,
  { known, cause }: { known: ChainDeposit; cause: string },
): Promise<ChainDeposit> {
  // The first that was found is what a person looks at, and what was decided stands.
  if (known.state === 'ATTENTION' || known.state === 'DISMISSED') return known
  // Who has said so once says so again.
  if (known.cause?.startsWith(decidedCause(cause, ''))) return known
  return store(tx, context, { ...known, state: 'ATTENTION', cause })
}

type Following = { readonly deposit: ChainDeposit; readonly consequence: Consequence }

async function follow(tx: Tx, context: Context, { deposit, consequence }: Following): Promise<ChainDeposit> {
  const { isDue, ...changes } = consequence
  const changed = { ...deposit, ...changes }
  if (!isDue) return store(tx, context, changed)
  const fault = await credit(tx, context, deposit)
  if (fault !== null) return store(tx, context, { ...changed, state: 'ATTENTION', cause: fault })
  const creditedAt = timestamp(context.now())
  return store(tx, context, { ...changed, depositReference: deposit.reference, creditedAt })
}

/** Credits the wallet; what it can't be credited for is answered, and nothing has moved then. */
async function credit(tx: Tx, context: Context, deposit: ChainDeposit): Promise<string | null> {
  const { merchantId, network, txHash, addressId, walletId, amount, reference } = deposit
  // A transaction that is mined again may have its logs at other places: that would be the same money twice.
  const key = { merchantId, network, txHash, addressId, amount, cause: reorganised }
  const [alike] = await alikeInAttention(tx, key)
  if (alike)
    return `${alike.reference} is as much to the same address, and the chain has let go of it after it was credited`
  try {
    await addDeposit(tx, context, { walletId, amount, reference })
    return null
  } catch (error) {
    if (error instanceof Refusal && uncreditable.includes(error.code)) return error.message
    throw error
  }
}

/** Refusals that leave the transaction as it was: the wallet is full, or somebody has entered another deposit by this reference. */
const uncreditable = ['BALANCE_LIMIT_EXCEEDED', 'DEPOSIT_REFERENCE_REUSED']

async function store(tx: Tx, context: Context, changed: ChainDeposit): Promise<ChainDeposit> {
  const deposit = { ...changed, updatedAt: timeOfChange(context, changed) }
  await storeChainDeposit(tx, deposit)
  return deposit
}
