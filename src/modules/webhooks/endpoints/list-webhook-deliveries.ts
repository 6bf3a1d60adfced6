import { z } from 'zod'
import { timestamp } from '../../../core/ids-and-clock.ts'
import { createdRangeFields, limit, oneOf, optional, parseInput, rejectField } from '../../../core/input.ts'
import type { MaybePromise } from '../../../core/maybe-promise.ts'
import type { ProjectedRow, Projection } from '../../../database/projection.ts'
import { cellReader, createProjection } from '../../../database/projection.ts'
import type { Reader } from '../../../database/query.ts'
import type { ListContext } from '../../../lists/declaration.ts'
import { filterByEnum } from '../../../lists/filters.ts'
import { createSliceParser } from '../../../lists/list-slices.ts'
import type { SequenceRange, Slice } from '../../../lists/slice.ts'
import { readSlice, sliceFields } from '../../../lists/slice.ts'
import type { CreatedRange } from '../../../lists/time-range.ts'
import { findSpan, fullSpan, intersectSpans, isEmptySpan } from '../../../lists/time-range.ts'
import { maxCountedRows } from '../../../lists/totals.ts'
import type { Context } from '../../../operations/context.ts'
import { webhookEndpoints } from './list.ts'
import { attemptsOfDeliveries, countDeliveries, deliveriesInRange, eventAtOrBefore } from './repository.ts'
import type { WebhookDelivery } from './webhook-delivery.ts'
import { deliveryStatuses, maxListedAttempts } from './webhook-delivery.ts'
import { WebhookEndpointIdInput } from './webhook-endpoint-input.ts'

const pageSize = 20

export const ListWebhookDeliveriesInput = WebhookEndpointIdInput.extend({
  status: optional(oneOf(deliveryStatuses)),
  // A query string carries it as text.
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
  /** The argument `before` of the next page; `null` at the end. */
  readonly next: number | null
}

/**
 * Lists the delivery log of an endpoint, newest event first. It has no numbered pages: its sequences are those of the merchant's
 * events, so they have gaps, and old deliveries are removed. `before` is a keyset cursor.
 *
 * @throws DomainError, in order of precedence: INVALID_INPUT, RESOURCE_NOT_FOUND
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

const filters = { status: filterByEnum(deliveryStatuses, 'Only deliveries with this status.') }

const DeliverySliceInput = z.object({ status: filters.status.schema, ...createdRangeFields, ...sliceFields })
type DeliverySliceArgs = Partial<z.input<typeof DeliverySliceInput>>

const parseDeliverySlice = createSliceParser(DeliverySliceInput, null) as (
  input: object,
) => z.output<typeof DeliverySliceInput>

/** The delivery logs as a list source of GraphQL connections. */
export const webhookDeliveries = {
  filters,
  columns: (names: readonly string[]): Projection => createProjection([...names, 'sequence']),
  slice: rejectWithoutParent,
  find: rejectWithoutParent,
  sliceParser: () => parseDeliverySlice,
  /** Runs one query for each endpoint: a merchant has few, and the index serves one endpoint at a time. */
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
  // The range of the merchant's events is the same for all of its endpoints.
  let range: ReturnType<typeof findSpan> | null = null
  const findRange = () => {
    range ??= findEventSequenceRange(context, parsed)
    return range
  }
  const input = { ...parsed, span: findRange, withAttempts: columns === undefined || columns.names.includes('log') }
  const slices = ids.map(async (id) => [id, projectSlice(await sliceDeliveryLog(context, id, input), columns)] as const)
  return new Map(await Promise.all(slices))
}

async function rejectWithoutParent(): Promise<never> {
  throw new Error('Deliveries can be listed for an endpoint only')
}

type DeliveryLogSliceArgs = z.output<typeof DeliverySliceInput> & {
  /** Finds the range of sequences of the requested times. */
  readonly span: () => ReturnType<typeof findSpan>
  readonly withAttempts: boolean
}

function sliceDeliveryLog(
  context: ListContext,
  endpointId: string,
  { span, withAttempts, first, after, last, before, ...filters }: DeliveryLogSliceArgs,
): MaybePromise<Slice<WebhookDelivery>> {
  const { db, merchantId } = context
  const selection = { endpointId, ...filters }
  const list = {
    name: ['webhook_deliveries', { merchantId, ...selection }],
    sequenceOf: ({ sequence }: WebhookDelivery) => sequence,
    rows: async (range: SequenceRange) => {
      const within = intersectSpans(range, await span())
      return isEmptySpan(within) ? [] : readDeliveries(context, selection, { ...range, ...within, withAttempts })
    },
    total: async () => {
      const params = { ...toFilterParams(selection), ...(await span()), limit: maxCountedRows + 1 }
      const [counted] = await countDeliveries(db, { merchantId, endpointId, ...params })
      const count = Number(counted?.count ?? 0)
      return count > maxCountedRows ? null : count
    },
  }
  return readSlice(list, { first, after, last, before })
}

/** Finds a range of sequences that includes all events of a period, and may include a few more. */
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

/** Converts filters to query parameters; the times are those of the events, not of the deliveries. */
function toFilterParams({ status, createdFrom, createdBefore }: DeliveryFilters) {
  return {
    ...(status !== null && { status }),
    ...(createdFrom !== null && { fromTime: BigInt(Date.parse(createdFrom)) }),
    ...(createdBefore !== null && { beforeTime: BigInt(Date.parse(createdBefore)) }),
  }
}

/** Reads attempts only if requested: they are up to 20 rows a delivery, with long response bodies. */
async function readDeliveries(
  { db, merchantId }: ListContext,
  filters: DeliveryFilters,
  { isAscending, withAttempts, ...range }: SequenceRange & { readonly withAttempts: boolean },
): Promise<WebhookDelivery[]> {
  const { endpointId } = filters
  const params = { ...toFilterParams(filters), ...range, ...(isAscending && { isAscending }) }
  const rows = await deliveriesInRange(db, { merchantId, endpointId, ...params })
  const sequences = rows.map(({ sequence }) => sequence)
  const attemptParams = { merchantId, endpointId, sequences, limit: maxListedAttempts }
  const attempts = withAttempts && sequences.length > 0 ? await attemptsOfDeliveries(db, attemptParams) : []
  const log = Map.groupBy(attempts, ({ sequence }) => sequence)
  return rows.map((row) => ({ ...row, log: log.get(row.sequence) ?? [] }))
}
