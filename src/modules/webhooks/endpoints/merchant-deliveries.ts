import { z } from 'zod'
import { invalidInput } from '../../../core/errors.ts'
import { parseUuid, timestamp } from '../../../core/ids-and-clock.ts'
import { createdRangeFields, optionalUuid, parseInput } from '../../../core/input.ts'
import type { Slice } from '../../../lists/slice.ts'
import { defaultSliceSize, sliceFields } from '../../../lists/slice.ts'
import { intersectSpans } from '../../../lists/time-range.ts'
import type { Context } from '../../../operations/context.ts'
import { webhookEndpoints } from './list.ts'
import type { WebhookAttempt, WebhookDelivery } from './list-webhook-deliveries.ts'
import { deliveryFilters, findEventSequenceRange, readDeliveries } from './list-webhook-deliveries.ts'
import { attemptsOfDeliveries } from './repository.ts'

export type ListedDelivery = Omit<WebhookDelivery, 'log'> & {
  readonly id: string
  readonly url: string
  readonly lastAttempt: WebhookAttempt | null
}

const { first, after } = sliceFields
const MerchantDeliveriesInput = z.object({
  endpointId: optionalUuid(),
  status: deliveryFilters.status.schema,
  ...createdRangeFields,
  first,
  after,
})

export const merchantDeliveries = { slice: sliceMerchantDeliveries }

async function sliceMerchantDeliveries(
  context: Context,
  input: Partial<z.input<typeof MerchantDeliveriesInput>>,
): Promise<Slice<ListedDelivery>> {
  const { endpointId, status, createdFrom, createdBefore, first, after } = parseInput(MerchantDeliveriesInput, input)
  const limit = first ?? defaultSliceSize
  const position = after === null ? null : decodeCursor(after)
  const { items: all } = await webhookEndpoints.slice(context, { first: 100 })
  const endpoints = endpointId === null ? all : all.filter(({ id }) => id === endpointId)
  const span = await findEventSequenceRange(context, { createdFrom, createdBefore })
  const rowsOf = async ({ id, url }: { readonly id: string; readonly url: string }) => {
    const range = intersectSpans(span, {
      above: 0,
      below: position === null ? span.below : belowPosition(position, id),
    })
    const filters = { endpointId: id, status, createdFrom, createdBefore }
    const args = { ...range, limit: limit + 1, isAscending: false, withAttempts: false }
    return (await readDeliveries(context, filters, args)).map((row) => ({ ...row, url }))
  }
  const rows = (await Promise.all(endpoints.map(rowsOf))).flat().toSorted(compareRows)
  const items = await addLastAttempts(context, rows.slice(0, limit))
  return {
    items,
    hasNextPage: rows.length > limit,
    hasPreviousPage: false,
    cursorOf: encodeCursor,
    total: async () => null,
  }
}

type Position = Pick<WebhookDelivery, 'sequence' | 'endpointId'>

function compareRows(a: Position, b: Position): number {
  return b.sequence - a.sequence || (a.endpointId > b.endpointId ? -1 : 1)
}

/**
 * Deliveries of the same event are sorted by endpoint id, highest first. If `id` is lower than the endpoint id of the
 * last delivery on a page, the next page includes the same event for the endpoint `id`.
 */
function belowPosition({ sequence, endpointId }: Position, id: string): number {
  return id < endpointId ? sequence + 1 : sequence
}

async function addLastAttempts(
  { db, merchantId }: Context,
  rows: readonly (WebhookDelivery & { readonly url: string })[],
): Promise<ListedDelivery[]> {
  const attempts = new Map<string, WebhookAttempt>()
  const idOf = ({ endpointId, sequence }: Position) => `${endpointId}.${String(sequence).padStart(10, '0')}`
  for (const [endpointId, deliveries] of Map.groupBy(rows, (row) => row.endpointId)) {
    const sequences = deliveries.map(({ sequence }) => sequence)
    const latest = await attemptsOfDeliveries(db, { merchantId, endpointId, sequences, limitEach: 1 })
    for (const attempt of latest) attempts.set(idOf(attempt), attempt)
  }
  return rows.map(({ log: _, ...row }) => {
    const id = idOf(row)
    return { ...row, id, createdAt: timestamp(Number(row.eventTime)), lastAttempt: attempts.get(id) ?? null }
  })
}

function encodeCursor({ sequence, endpointId }: Position): string {
  return Buffer.from(`${sequence} ${endpointId}`).toString('base64url')
}

function decodeCursor(after: string): Position {
  const [sequence = '', id = ''] = Buffer.from(after, 'base64url').toString('latin1').split(' ')
  const endpointId = parseUuid(id)
  if (/^[1-9]\d{0,8}$/.test(sequence) && endpointId !== null) return { sequence: Number(sequence), endpointId }
  throw invalidInput([{ field: 'after', code: 'INVALID_PARAMETER', message: 'must be a cursor that this list gave' }])
}
