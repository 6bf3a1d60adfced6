import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import { z } from 'zod'
import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { parseInput } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import { balanceChangeOf, directionOf } from '../ledger/entry.ts'
import { wallets } from '../wallets/list.ts'
import { sumSequenceRange } from './control-totals.ts'
import { findBalancesBefore } from './daily-balances.ts'
import type { Export, ExportBalance, ExportLine } from './export.ts'
import { linesPerPage } from './export.ts'
import type { Period } from './period.ts'
import { periodFields, resolvePeriod } from './period.ts'
import { entriesBetween, entrySums } from './repository.ts'

export const StatementInput = z.object({ walletId: z.string(), ...periodFields })

/** Contains the ledger entries after `opening.sequence`, up to and including `closing.sequence`. */
export type WalletStatement = {
  readonly walletId: string
  readonly assetCode: string
  readonly period: Period
  readonly opening: Required<ExportBalance>
  readonly closing: Required<ExportBalance>
}

/**
 * The times of a wallet's entries never decrease, so the closing balance of a period is the opening balance of the next
 * period.
 *
 * @throws DomainError INVALID_INPUT, RESOURCE_NOT_FOUND (wallet), also for a malformed id
 */
export async function findStatement(context: Context, input: z.input<typeof StatementInput>): Promise<WalletStatement> {
  const request = parseInput(StatementInput, input)
  const { db, merchantId } = context
  const walletId = parseUuid(request.walletId)
  const wallet = walletId && (await wallets.byId(db, { merchantId, id: walletId }))
  if (!wallet) throw notFound('Wallet')
  const period = resolvePeriod(context, request)
  const assetCode = wallet.currency
  const times = period.from === null ? [period.to] : [period.to, period.from]
  const [closing = noBalance, opening = noBalance] = await findBalancesBefore(context, wallet.id, times)
  return {
    walletId: wallet.id,
    assetCode,
    period,
    opening: { assetCode, ...opening },
    closing: { assetCode, ...closing },
  }
}

const noBalance = { balance: 0n, sequence: 0 }

/** @throws DomainError as `findStatement` does; Error if the balances contradict the entries */
export async function exportStatement(context: Context, input: z.input<typeof StatementInput>): Promise<Export> {
  const { walletId, period, opening, closing } = await findStatement(context, input)
  const { db, merchantId } = context
  const range = { after: opening.sequence, through: closing.sequence }
  const moved = await sumSequenceRange(range, async (part) => entrySums(db, { merchantId, walletId, ...part }))
  const total = [...moved.totals.values()].reduce((sum, each) => sum + each, 0n)
  if (opening.balance + total !== closing.balance)
    throw new Error(`The statement of wallet ${walletId} does not add up. Run \`audit\`.`)
  return {
    ...{ kind: 'statement', merchantId, walletId, period },
    opening: [opening],
    closing: [closing],
    lineCount: closing.sequence - opening.sequence,
    hasMoreThanFiveDecimals: moved.hasMoreThanFiveDecimals,
    pages: readLines(context, walletId, range),
  }
}

async function* readLines(
  { db, merchantId }: Context,
  walletId: string,
  { after, through }: { after: number; through: number },
): AsyncGenerator<readonly ExportLine[]> {
  for (let last = after; last < through; ) {
    const entries = await entriesBetween(db, { merchantId, walletId, after: last, through, limit: linesPerPage })
    yield entries.map(toLine)
    last = entries.at(-1)?.sequence ?? through
    await nextEventLoopTurn()
  }
}

type StatementEntryRow = Awaited<ReturnType<typeof entriesBetween>>[number]

function toLine(entry: StatementEntryRow): ExportLine {
  const { kind, assetCode, amount, fee } = entry
  const direction = directionOf(kind)
  const moved = balanceChangeOf(kind, amount + fee)
  return {
    assetCode,
    moved,
    balanceAfter: entry.balanceAfter,
    cells: {
      sequence: entry.sequence,
      created_at: entry.createdAt,
      kind,
      direction,
      currency: assetCode,
      amount: moved,
      transfer_id: entry.id,
      payout_id: entry.payoutId,
      reference_id: entry.referenceId,
      transaction_id: entry.transactionId,
      withdrawal_recipient_name: entry.recipientName,
      amount_fiat: entry.amountFiat,
      recipient_currency: entry.recipientCurrency,
      narration: entry.narration,
      reference: entry.reference,
    },
  }
}
