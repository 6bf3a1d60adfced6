import { z } from 'zod'
import { limit, optional, parseInput, rejectField } from '../../../core/input.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { attentionOfAllMerchants, attentionOfMerchant } from '../repository.ts'
import type { AttentionAction } from './resolve-attention.ts'
import { actionsFor, merchantActions } from './resolve-attention.ts'

const pageSize = 20

/** Before everything. */
const startPosition = { since: '0001-01-01T00:00:00.000Z', orderId: '00000000-0000-0000-0000-000000000000' }

const ListAttentionInput = z.object({
  limit: limit(pageSize),
  after: optional(z.string()).transform((given, context) =>
    given === null
      ? startPosition
      : (parseCursor(given) ?? rejectField(context, 'INVALID_PARAMETER', 'must be one that this list gave')),
  ),
})

/** A payout that a person must look at. */
export type AttentionItem = {
  readonly merchantId: string
  readonly payoutId: string
  readonly rail: string
  readonly payoutStatus: 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'RETURNED'
  /** Since when, in ISO 8601. */
  readonly since: string
  readonly cause: string | null
  /** The bank's own name for the payment. */
  readonly reference: string | null
  readonly actions: readonly AttentionAction[]
}

/** A part of the list; `after` is what it is asked for next, `null` at the end. */
export type AttentionPage = { readonly items: readonly AttentionItem[]; readonly after: string | null }

/**
 * The merchant's payouts that a person must look at, the oldest first, with what the merchant can do about each.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listAttention(
  context: Context,
  input: z.input<typeof ListAttentionInput>,
): Promise<AttentionPage> {
  const { db, merchantId } = context
  const { after, limit } = parseInput(ListAttentionInput, input)
  const found = await attentionOfMerchant(db, { merchantId, ...after, limit: limit + 1 })
  return toAttentionPage(found, limit, merchantActions(context))
}

/** The same of all merchants, for an operator. @throws Refusal INVALID_INPUT */
export async function listAllAttention(
  { db }: Service,
  input: z.input<typeof ListAttentionInput>,
): Promise<AttentionPage> {
  const { after, limit } = parseInput(ListAttentionInput, input)
  return toAttentionPage(await attentionOfAllMerchants(db, { ...after, limit: limit + 1 }), limit)
}

type AttentionQueryRow = Awaited<ReturnType<typeof attentionOfAllMerchants>>[number]

function toAttentionPage(
  found: readonly AttentionQueryRow[],
  limit: number,
  allowed?: readonly AttentionAction[],
): AttentionPage {
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return {
    items: rows.map(({ orderId: _, history, ...row }) => ({
      ...row,
      cause: attentionCause(history),
      actions: actionsFor(row.payoutStatus).filter((action) => allowed?.includes(action) ?? true),
    })),
    after: last === undefined ? null : btoa(`${last.since} ${last.orderId}`),
  }
}

/** Why somebody must look, and what the bank has said since. */
function attentionCause(history: AttentionQueryRow['history']): string | null {
  const since = history.slice(history.findLastIndex(({ state }) => state !== 'ATTENTION') + 1)
  return since.flatMap(({ cause }) => cause ?? []).join('; ') || null
}

function parseCursor(cursor: string): typeof startPosition | null {
  const [, since, orderId] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([\da-f-]{36})$/.exec(decodeBase64(cursor)) ?? []
  return since === undefined || orderId === undefined ? null : { since, orderId }
}

function decodeBase64(cursor: string): string {
  try {
    return atob(cursor)
  } catch {
    return ''
  }
}
