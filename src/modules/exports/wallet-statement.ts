import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids.ts'
import { parse } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import { directionOf, gainOf } from '../ledger/entry.ts'
import { wallets } from '../wallets/list.ts'
import { sumBetween } from './control-totals.ts'
import type { Balance, Export, Line } from './export.ts'
import { linesPerPage } from './export.ts'
import type { Period } from './period.ts'
import { lastBefore, periodFields, periodOf } from './period.ts'
import { entriesBetween, entryAt, entrySums } from './repository.ts'

export const StatementInput = z.object({ walletId: z.string(), ...periodFields })

/** What a wallet held before a period and after it, and which entries lie between. */
export type Statement = {
  readonly walletId: string
  readonly assetCode: string
  readonly period: Period
  readonly opening: Required<Balance>
  readonly closing: Required<Balance>
}

/**
 * What a wallet held at both ends of a period.
 *
 * An entry is of the time that its wallet had then, which never goes back, so entries of a period follow one another in the
 * statement, and periods that meet have one balance where they do.
 *
 * @param input `from` absent for the beginning, `to` for now; a day is its first moment in UTC
 * @throws Refusal INVALID_INPUT, RESOURCE_NOT_FOUND (wallet), also for an id that is none
 */
export async function findStatement(context: Context, input: z.input<typeof StatementInput>): Promise<Statement> {
  const asked = parse(StatementInput, input)
  const { db, merchantId } = context
  const walletId = parseUuid(asked.walletId)
  const wallet = walletId && (await wallets.byId(db, { merchantId, id: walletId }))
  if (!wallet) throw notFound('Wallet')
  const period = periodOf(context, asked)
  const assetCode = wallet.currency
  const balanceBefore = async (moment: string): Promise<Required<Balance>> => {
    const last = await lastBefore(moment, async (sequence) => {
      const entry = await entryAt(db, { merchantId, walletId: wallet.id, sequence })
      return entry && { ...entry, sequence: entry.sequence ?? 0 }
    })
    return { assetCode, balance: last?.balanceAfter ?? 0n, sequence: last?.sequence ?? 0 }
  }
  const closing = await balanceBefore(period.to)
  const opening = period.from === null ? { assetCode, balance: 0n, sequence: 0 } : await balanceBefore(period.from)
  return { walletId: wallet.id, assetCode, period, opening, closing }
}

/**
 * The statement of a wallet, with its lines.
 *
 * @throws Refusal as `findStatement` does; Error where the ledger contradicts itself
 */
export async function exportStatement(context: Context, input: z.input<typeof StatementInput>): Promise<Export> {
  const { walletId, period, opening, closing } = await findStatement(context, input)
  const { db, merchantId } = context
  const numbers = { after: opening.sequence, through: closing.sequence }
  const moved = await sumBetween(numbers, (part) => entrySums(db, { merchantId, walletId, ...part }))
  const total = [...moved.totals.values()].reduce((sum, each) => sum + each, 0n)
  if (opening.balance + total !== closing.balance)
    throw new Error(`the statement of wallet ${walletId} does not add up`)
  return {
    ...{ kind: 'statement', merchantId, walletId, period },
    opening: [opening],
    closing: [closing],
    lineCount: closing.sequence - opening.sequence,
    hasFineAmounts: moved.hasFineAmounts,
    pages: linesOf(context, walletId, numbers),
  }
}

async function* linesOf(
  { db, merchantId }: Context,
  walletId: string,
  { after, through }: { after: number; through: number },
): AsyncGenerator<readonly Line[]> {
  for (let last = after; last < through; ) {
    const entries = await entriesBetween(db, { merchantId, walletId, after: last, through, limit: linesPerPage })
    yield entries.map(lineOf)
    last = entries.at(-1)?.sequence ?? through
    await nextTurn()
  }
}

type EntryRow = Awaited<ReturnType<typeof entriesBetween>>[number]

function lineOf(entry: EntryRow): Line {
  const { kind, assetCode, amount, fee } = entry
  const direction = directionOf(kind)
  const moved = gainOf(kind, amount + fee)
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
