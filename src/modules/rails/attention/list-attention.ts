import { z } from 'zod'
import { limit, optional, parse, refuse } from '../../../core/input.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { attentionOfAll, attentionOfMerchant } from '../repository.ts'
import type { AttentionAction } from './attention-actions.ts'
import { actionsFor } from './attention-actions.ts'
import { merchantActions } from './resolve-attention.ts'

const pageSize = 20

/** Before everything. */
const beginning = { since: '0001-01-01T00:00:00.000Z', orderId: '00000000-0000-0000-0000-000000000000' }

const ListAttentionInput = z.object({
  limit: limit(pageSize),
  after: optional(z.string()).transform((given, context) =>
    given === null
      ? beginning
      : (placeIn(given) ?? refuse(context, 'INVALID_PARAMETER', 'must be one that this list gave')),
  ),
})

/** A payout that a person must look at. */
export type Attention = {
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
export type AttentionPage = { readonly items: readonly Attention[]; readonly after: string | null }

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
  const { after, limit } = parse(ListAttentionInput, input)
  const found = await attentionOfMerchant(db, { merchantId, ...after, limit: limit + 1 })
  return pageOf(found, limit, merchantActions(context))
}

/** The same of all merchants, for an operator. @throws Refusal INVALID_INPUT */
export async function listAllAttention(
  { db }: Service,
  input: z.input<typeof ListAttentionInput>,
): Promise<AttentionPage> {
  const { after, limit } = parse(ListAttentionInput, input)
  return pageOf(await attentionOfAll(db, { ...after, limit: limit + 1 }), limit)
}

type Found = Awaited<ReturnType<typeof attentionOfAll>>[number]

function pageOf(found: readonly Found[], limit: number, allowed?: readonly AttentionAction[]): AttentionPage {
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return {
    items: rows.map(({ orderId: _, history, ...row }) => ({
      ...row,
      cause: causeIn(history),
      actions: actionsFor(row.payoutStatus).filter((action) => allowed?.includes(action) ?? true),
    })),
    after: last === undefined ? null : btoa(`${last.since} ${last.orderId}`),
  }
}

/** Why somebody must look, and what the bank has said since. */
function causeIn(history: Found['history']): string | null {
  const since = history.slice(history.findLastIndex(({ state }) => state !== 'ATTENTION') + 1)
  return since.flatMap(({ cause }) => cause ?? []).join('; ') || null
}

function placeIn(cursor: string): typeof beginning | null {
  const [, since, orderId] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([\da-f-]{36})$/.exec(decoded(cursor)) ?? []
  return since === undefined || orderId === undefined ? null : { since, orderId }
}

function decoded(cursor: string): string {
  try {
    return atob(cursor)
  } catch {
    return ''
  }
}
