import { z } from 'zod'
import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import { timestamp } from '../../../core/ids-and-clock.ts'
import { createdRangeFields, limit, oneOf, optional, parseInput, rejectField } from '../../../core/input.ts'
import type { ProjectedRow, Projection } from '../../../database/projection.ts'
import { cellReader, createProjection } from '../../../database/projection.ts'
import type { Reader } from '../../../database/query.ts'
import type { EventType, RowOf } from '../../../database/tables.ts'
import type { ListContext } from '../../../lists/declaration.ts'
import { filterByEnum } from '../../../lists/filters.ts'
import { createSliceParser } from '../../../lists/list-slices.ts'
import type { SequenceRange, Slice } from '../../../lists/slice.ts'
import { readSlice, sliceFields } from '../../../lists/slice.ts'
import type { CreatedRange } from '../../../lists/time-range.ts'
import { findSpan, fullSpan, intersectSpans } from '../../../lists/time-range.ts'
import { maxCountedRows } from '../../../lists/totals.ts'
import type { Context } from '../../../operations/context.ts'
import { webhookEndpoints } from './list.ts'
import { attemptsOfDeliveries, countDeliveries, deliveriesInRange, eventAtOrBefore } from './repository.ts'
import { WebhookEndpointIdInput } from './webhook-endpoint.ts'

export const deliveryStatuses = defineEnum({
  pending: 'An attempt failed; another is scheduled.',
  delivered: 'The endpoint accepted the event.',
  exhausted: 'All attempts failed, or the delivery was dropped. There are no more retries.',
})

/** A webhook delivery has up to ten attempts, and ten more for each replay. */
const maxListedAttempts = 20

export type WebhookAttempt = RowOf<'webhookAttempts'>

export type WebhookDelivery = RowOf<'webhookDeliveries'> & {
  readonly eventType: EventType
  readonly eventTime: bigint
  readonly log: readonly WebhookAttempt[]
}

export const deliveryDescriptions = {
  delivery: 'The delivery of an event to an endpoint.',
  eventId: 'The id of the event.',
  eventType: 'The type of the event.',
  sequence: 'The sequence of the event.',
  status: 'The status of the delivery.',
  nextAttemptAt: 'When the next attempt is due; null if none is scheduled.',
  attempts: `The latest attempts, at most ${maxListedAttempts}, oldest first. They are kept for 30 days.`,
  attempt: 'An attempt to send the event.',
  attemptedAt: 'When the event was sent.',
  durationMs: 'The duration in milliseconds.',
  responseStatus: 'The HTTP status of the response; null if there was none.',
  error: 'The error; null if there was none.',
  answer: 'The first KiB of the response body.',
} as const

const pageSize = 20

export const ListWebhookDeliveriesInput = WebhookEndpointIdInput.extend({
  status: optional(oneOf(deliveryStatuses)),
  before: optional(z.unknown()).transform((value, context) => {
    if (value === null) return null
    const isNumber = /^[1-9]\d{0,8}$/.test(String(value))
    return isNumber ? Number(value) : rejectField(context, 'INVALID_PARAMETER', 'must be the sequence of an event')
  }),
  limit: limit(pageSize),
})

export type DeliveriesPage = {
  readonly items: readonly WebhookDelivery[]
  readonly limit: number
  readonly next: number | null
}

/**
 * Lists an endpoint's deliveries in the order of their events, newest first. Pages of deliveries have no numbers,
 * because the sequences of an endpoint's events have gaps.
 *
 * @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function listWebhookDeliveries(
  context: Context,
  input: z.input<typeof ListWebhookDeliveriesInput>,
): Promise<DeliveriesPage> {
  const { webhookId, status, before, limit } = parseInput(ListWebhookDeliveriesInput, input)
  const { id: endpointId } = await webhookEndpoints.get(context, webhookId)
  const range = {
    above: 0,
    below: before ?? fullSpan.below,
    limit: limit + 1,
    isAscending: false,
    withAttempts: true,
  }
  const rows = await readDeliveries(context, { endpointId, status, ...unboundedTime }, range)
  const items = rows.slice(0, limit)
  return { items, limit, next: rows.length > limit ? (items.at(-1)?.sequence ?? null) : null }
}

export const deliveryFilters = { status: filterByEnum(deliveryStatuses, 'Only deliveries with this status.') }

const DeliverySliceInput = z.object({ status: deliveryFilters.status.schema, ...createdRangeFields, ...sliceFields })
type DeliverySliceArgs = Partial<z.input<typeof DeliverySliceInput>>

const parseDeliverySlice = createSliceParser(DeliverySliceInput, null) as (
  input: object,
) => z.output<typeof DeliverySliceInput>

export const webhookDeliveries = {
  filters: deliveryFilters,
  columns: (names: readonly string[]): Projection => createProjection([...names, 'sequence']),
  slice: rejectWithoutParent,
  find: rejectWithoutParent,
  sliceParser: () => parseDeliverySlice,
  /**
   * Lists deliveries with one query per endpoint, because a merchant has few endpoints and the index begins with the
   * endpoint.
   */
  slicesOf: (_: 'endpoint') =>
    sliceDeliveryLogs as unknown as {
      (
        context: ListContext,
        ids: readonly string[],
        input: DeliverySliceArgs,
        columns: Projection,
      ): Promise<DeliverySlices<ProjectedRow>>
      (context: ListContext, ids: readonly string[], input: DeliverySliceArgs): Promise<DeliverySlices<WebhookDelivery>>
    },
}

type DeliverySlices<Row> = ReadonlyMap<string, Slice<Row>>

async function sliceDeliveryLogs(
  context: ListContext,
  ids: readonly string[],
  args: DeliverySliceArgs,
  columns?: Projection,
): Promise<DeliverySlices<never>> {
  const parsed = parseDeliverySlice(args)
  let span: ReturnType<typeof findSpan> | null = null
  const findSharedSpan = () => {
    span ??= findEventSequenceRange(context, parsed)
    return span
  }
  const log = { ...parsed, span: findSharedSpan, withAttempts: columns === undefined || columns.names.includes('log') }
  const slices = ids.map(async (id) => [id, projectSlice(await sliceDeliveryLog(context, id, log), columns)] as const)
  return new Map(await Promise.all(slices))
}

async function rejectWithoutParent(): Promise<never> {
  throw new Error('deliveries can only be listed for an endpoint')
}

type DeliveryLogSliceArgs = z.output<typeof DeliverySliceInput> & {
  readonly span: () => ReturnType<typeof findSpan>
  readonly withAttempts: boolean
}

async function sliceDeliveryLog(
  context: ListContext,
  endpointId: string,
  { span, withAttempts, first, after, last, before, ...filters }: DeliveryLogSliceArgs,
): Promise<Slice<WebhookDelivery>> {
  const { db, merchantId } = context
  const criteria = { endpointId, ...filters }
  const list = {
    name: ['webhook_deliveries', { merchantId, ...criteria }],
    sequenceOf: ({ sequence }: WebhookDelivery) => sequence,
    rows: async (range: SequenceRange) => {
      const within = intersectSpans(range, await span())
      return readDeliveries(context, criteria, { ...range, ...within, withAttempts })
    },
    total: async () => {
      const filterParams = toFilterParams(criteria)
      const limit = maxCountedRows + 1
      const [row] = await countDeliveries(db, { merchantId, endpointId, ...filterParams, ...(await span()), limit })
      const count = Number(row?.count ?? 0)
      return count > maxCountedRows ? null : count
    },
  }
  return readSlice(list, { first, after, last, before })
}

/** The returned range of sequences contains all events of the period, and possibly other events. */
export function findEventSequenceRange(
  { db, merchantId }: { readonly db: Reader; readonly merchantId: string },
  created: CreatedRange,
): ReturnType<typeof findSpan> {
  return findSpan(created, async (fromSequence) => {
    const event = await eventAtOrBefore(db, { merchantId, fromSequence })
    return event && { sequence: event.sequence, createdAt: timestamp(Number(event.time)) }
  })
}

function projectSlice(slice: Slice<WebhookDelivery>, columns: Projection | undefined): Slice<never> {
  if (columns === undefined) return slice as unknown as Slice<never>
  const rows = new Map<ProjectedRow, WebhookDelivery>(
    slice.items.map((row) => [columns.names.map((name) => cellReader(undefined, name)(row)), row]),
  )
  const cursorOf = (values: ProjectedRow) => slice.cursorOf(rows.get(values) as WebhookDelivery)
  return { ...slice, items: [...rows.keys()], cursorOf } as unknown as Slice<never>
}

type DeliveryFilters = CreatedRange & { readonly endpointId: string; readonly status: WebhookDelivery['status'] | null }

const unboundedTime: CreatedRange = { createdFrom: null, createdBefore: null }

function toFilterParams({ status, createdFrom, createdBefore }: DeliveryFilters) {
  return {
    ...(status !== null && { status }),
    ...(status !== null && status !== 'delivered' && { isUndelivered: true as const }),
    ...(createdFrom !== null && { fromTime: BigInt(Date.parse(createdFrom)) }),
    ...(createdBefore !== null && { beforeTime: BigInt(Date.parse(createdBefore)) }),
  }
}

/** Reads attempts only if `withAttempts` is true, because each delivery can have 20 attempts with long responses. */
export async function readDeliveries(
  { db, merchantId }: ListContext,
  filters: DeliveryFilters,
  { isAscending, withAttempts, ...range }: SequenceRange & { readonly withAttempts: boolean },
): Promise<WebhookDelivery[]> {
  const { endpointId } = filters
  const params = { merchantId, endpointId, ...toFilterParams(filters), ...range, ...(isAscending && { isAscending }) }
  const rows = await deliveriesInRange(db, params)
  const sequences = rows.map(({ sequence }) => sequence)
  const latest = { merchantId, endpointId, sequences, limitEach: maxListedAttempts }
  const attempts = withAttempts && sequences.length > 0 ? await attemptsOfDeliveries(db, latest) : []
  const log = Map.groupBy(attempts, ({ sequence }) => sequence)
  return rows.map((row) => ({ ...row, log: log.get(row.sequence) ?? [] }))
}
