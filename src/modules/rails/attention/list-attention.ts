import { z } from 'zod'
import { limit, optional, parseInput, rejectField } from '../../../core/input.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { attentionOfAllMerchants, attentionOfMerchant } from '../repository.ts'
import type { AttentionAction } from './resolve-attention.ts'
import { actionsFor, merchantActions } from './resolve-attention.ts'

const pageSize = 20

const startPosition = { since: '0001-01-01T00:00:00.000Z', orderId: '00000000-0000-0000-0000-000000000000' }

const ListAttentionInput = z.object({
  limit: limit(pageSize),
  after: optional(z.string()).transform((cursor, context) =>
    cursor === null
      ? startPosition
      : (parseCursor(cursor) ?? rejectField(context, 'INVALID_PARAMETER', 'must be a cursor from this list')),
  ),
})

export type AttentionItem = {
  readonly merchantId: string
  readonly payoutId: string
  readonly rail: string
  readonly payoutStatus: 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'RETURNED'
  readonly since: string
  readonly cause: string | null
  readonly reference: string | null
  readonly actions: readonly AttentionAction[]
}

export type AttentionPage = { readonly items: readonly AttentionItem[]; readonly after: string | null }

/**
 * Lists items of the attention queue, oldest first, with the actions that the merchant may take.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function listAttention(
  context: Context,
  input: z.input<typeof ListAttentionInput>,
): Promise<AttentionPage> {
  const { db, merchantId } = context
  const { after, limit } = parseInput(ListAttentionInput, input)
  const rows = await attentionOfMerchant(db, { merchantId, ...after, limit: limit + 1 })
  return toAttentionPage(rows, limit, merchantActions(context))
}

/** @throws DomainError INVALID_INPUT */
export async function listAllAttention(
  { db }: Service,
  input: z.input<typeof ListAttentionInput>,
): Promise<AttentionPage> {
  const { after, limit } = parseInput(ListAttentionInput, input)
  return toAttentionPage(await attentionOfAllMerchants(db, { ...after, limit: limit + 1 }), limit)
}

type AttentionQueryRow = Awaited<ReturnType<typeof attentionOfAllMerchants>>[number]

function toAttentionPage(
  rows: readonly AttentionQueryRow[],
  limit: number,
  allowed?: readonly AttentionAction[],
): AttentionPage {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    items: page.map(({ orderId: _, history, ...row }) => ({
      ...row,
      cause: attentionCause(history),
      actions: actionsFor(row.payoutStatus).filter((action) => allowed?.includes(action) ?? true),
    })),
    after: last === undefined ? null : btoa(`${last.since} ${last.orderId}`),
  }
}

/** Joins the reason why the order entered the attention queue with the bank's later reports. */
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
