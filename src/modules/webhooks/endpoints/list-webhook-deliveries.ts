import { z } from 'zod'
import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import { timestamp } from '../../../core/ids-and-clock.ts'
import { createdRangeFields, limit, oneOf, optional, parseInput, rejectField } from '../../../core/input.ts'
import type { ProjectedRow, Projection } from '../../../database/projection.ts'
import { cellReader, createProjection } from '../../../database/projection.ts'
import type { MaybePromise, Reader } from '../../../database/query.ts'
import type { RowOf } from '../../../database/tables.ts'
import type { ListContext } from '../../../lists/declaration.ts'
import { filterByEnum } from '../../../lists/filters.ts'
import { createSliceParser } from '../../../lists/list-slices.ts'
import type { SequenceRange, Slice } from '../../../lists/slice.ts'
import { readSlice, sliceFields } from '../../../lists/slice.ts'
import type { CreatedRange } from '../../../lists/time-range.ts'
import { findSpan, fullSpan, intersectSpans, isEmptySpan } from '../../../lists/time-range.ts'
import { maxCountedRows } from '../../../lists/totals.ts'
import type { Context } from '../../../operations/context.ts'
import type { EventType } from '../../outbox/event.ts'
import { webhookEndpoints } from './list.ts'
import { attemptsOfDeliveries, countDeliveries, deliveriesInRange, eventAtOrBefore } from './repository.ts'
import { WebhookEndpointIdInput } from './webhook-endpoint-input.ts'

export const deliveryStatuses = defineEnum({
  pending: 'It was tried and will be again.',
  delivered: 'The endpoint took it.',
  exhausted: 'It was tried as often as anything is, or let go of, and is not tried again.',
})

/** Attempts that are told of one delivery, the latest: it has ten, and as many again whenever its owner asks for it. */
export const maxListedAttempts = 20

/** One time that an event was sent: how long it took, and the answer or what went wrong. */
export type WebhookAttempt = RowOf<'webhookAttempts'>

/** What became of an event that was sent to an endpoint, with its latest attempts, the first of them first. */
export type WebhookDelivery = RowOf<'webhookDeliveries'> & {
  readonly eventType: EventType
  readonly eventTime: bigint
  /** At most `mostAttempts`. */
  readonly log: readonly WebhookAttempt[]
}

const pageSize = 20

export const ListWebhookDeliveriesInput = WebhookEndpointIdInput.extend({
  status: optional(oneOf(deliveryStatuses)),
  // In a query it comes as text.
  before: optional(z.unknown()).transform((given, context) => {
    if (given === null) return null
    const isNumber = /^[1-9]\d{0,8}$/.test(String(given))
    return isNumber ? Number(given) : rejectField(context, 'INVALID_PARAMETER', 'must be the sequence of an event')
  }),
  limit: limit(pageSize),
})

/** A part of an endpoint's log; `next` is what `before` takes for the part after it, `null` at the end. */
export type DeliveriesPage = {
  readonly items: readonly WebhookDelivery[]
  readonly limit: number
  readonly next: number | null
}

/**
 * The log of an endpoint, the newest event first. It is no numbered list: its numbers are the events', of which an endpoint
 * gets some, and old ones are removed; so it has no pages that are counted, and goes on before a sequence.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND
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
  const found = await readDeliveries(context, { endpointId, status, ...unboundedTime }, range)
  const items = found.slice(0, limit)
  return { items, limit, next: found.length > limit ? (items.at(-1)?.sequence ?? null) : null }
}

/** By what the log of an endpoint is narrowed. */
const filters = { status: filterByEnum(deliveryStatuses, 'Only what became of events in this way.') }

const DeliverySliceInput = z.object({ status: filters.status.schema, ...createdRangeFields, ...sliceFields })
type DeliverySliceArgs = Partial<z.input<typeof DeliverySliceInput>>

const parseDeliverySlice = createSliceParser(DeliverySliceInput, null) as (
  input: object,
) => z.output<typeof DeliverySliceInput>

/** The logs of endpoints as lists of many parents are read. */
export const webhookDeliveries = {
  filters,
  columns: (wanted: readonly string[]): Projection => createProjection([...wanted, 'sequence']),
  slice: rejectWithoutParent,
  find: rejectWithoutParent,
  sliceParser: () => parseDeliverySlice,
  /** Each endpoint's log is asked for alone: a merchant has few, and each has an index of its own. */
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
  input: DeliverySliceArgs,
  columns?: Projection,
): Promise<DeliverySlices<never>> {
  const parsed = parseDeliverySlice(input)
  // The same for the logs of all endpoints, because it is of the merchant's events.
  let found: ReturnType<typeof findSpan> | null = null
  const findRange = () => {
    found ??= findEventSequenceRange(context, parsed)
    return found
  }
  const asked = { ...parsed, span: findRange, withAttempts: columns === undefined || columns.names.includes('log') }
  const slices = ids.map(async (id) => [id, projectSlice(await sliceDeliveryLog(context, id, asked), columns)] as const)
  return new Map(await Promise.all(slices))
}

async function rejectWithoutParent(): Promise<never> {
  throw new Error('deliveries are those of an endpoint')
}

/** What is asked of each log, with what finds the events of the times that are asked for. */
type DeliveryLogSliceArgs = z.output<typeof DeliverySliceInput> & {
  readonly span: () => ReturnType<typeof findSpan>
  readonly withAttempts: boolean
}

function sliceDeliveryLog(
  context: ListContext,
  endpointId: string,
  { span, withAttempts, first, after, last, before, ...filters }: DeliveryLogSliceArgs,
): MaybePromise<Slice<WebhookDelivery>> {
  const { db, merchantId } = context
  const which = { endpointId, ...filters }
  const list = {
    name: ['webhook_deliveries', { merchantId, ...which }],
    sequenceOf: ({ sequence }: WebhookDelivery) => sequence,
    rows: async (range: SequenceRange) => {
      const within = intersectSpans(range, await span())
      return isEmptySpan(within) ? [] : readDeliveries(context, which, { ...range, ...within, withAttempts })
    },
    total: async () => {
      const asked = { merchantId, endpointId, ...toFilterParams(which), ...(await span()), limit: maxCountedRows + 1 }
      const [counted] = await countDeliveries(db, asked)
      const count = Number(counted?.count ?? 0)
      return count > maxCountedRows ? null : count
    },
  }
  return readSlice(list, { first, after, last, before })
}

/** The numbers between which the events of a time lie, a little wide. */
export function findEventSequenceRange(
  { db, merchantId }: { readonly db: Reader; readonly merchantId: string },
  created: CreatedRange,
): ReturnType<typeof findSpan> {
  return findSpan(created, async (fromSequence) => {
    const event = await eventAtOrBefore(db, { merchantId, fromSequence })
    return event && { sequence: event.sequence, createdAt: timestamp(Number(event.time)) }
  })
}

/** The same slice with the values of chosen columns. */
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

/** What a query binds: the times are those of the events. */
function toFilterParams({ status, createdFrom, createdBefore }: DeliveryFilters) {
  return {
    ...(status !== null && { status }),
    ...(createdFrom !== null && { fromTime: BigInt(Date.parse(createdFrom)) }),
    ...(createdBefore !== null && { beforeTime: BigInt(Date.parse(createdBefore)) }),
  }
}

/** Attempts are up to 20 rows a delivery with long answers, so they are read only where they are asked for. */
async function readDeliveries(
  { db, merchantId }: ListContext,
  which: DeliveryFilters,
  { isAscending, withAttempts, ...range }: SequenceRange & { readonly withAttempts: boolean },
): Promise<WebhookDelivery[]> {
  const { endpointId } = which
  const asked = { merchantId, endpointId, ...toFilterParams(which), ...range, ...(isAscending && { isAscending }) }
  const rows = await deliveriesInRange(db, asked)
  const sequences = rows.map(({ sequence }) => sequence)
  const those = { merchantId, endpointId, sequences, most: maxListedAttempts }
  const attempts = withAttempts && sequences.length > 0 ? await attemptsOfDeliveries(db, those) : []
  const log = Map.groupBy(attempts, ({ sequence }) => sequence)
  return rows.map((row) => ({ ...row, log: log.get(row.sequence) ?? [] }))
}
