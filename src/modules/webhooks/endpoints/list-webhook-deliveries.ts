import { z } from 'zod'
import { timestamp } from '../../../core/ids.ts'
import { createdFields, limit, oneOf, optional, parse, refuse } from '../../../core/input.ts'
import type { Columns, Values } from '../../../database/projection.ts'
import { cellOf, columnsOf } from '../../../database/projection.ts'
import type { Answer, Reader } from '../../../database/query.ts'
import type { Asking } from '../../../lists/declaration.ts'
import { byOneOf } from '../../../lists/filters.ts'
import type { SequenceRange, Slice } from '../../../lists/slice.ts'
import { sliceFields, sliceOf } from '../../../lists/slice.ts'
import { sliceParser } from '../../../lists/slices.ts'
import type { Created } from '../../../lists/time-range.ts'
import { everything, intersection, isEmpty, spanOf } from '../../../lists/time-range.ts'
import { countLimit } from '../../../lists/totals.ts'
import type { Context } from '../../../operations/context.ts'
import { webhookEndpoints } from './list.ts'
import { attemptsOfDeliveries, countOfDeliveries, deliveriesInRange, eventAtOrBefore } from './repository.ts'
import type { WebhookDelivery } from './webhook-delivery.ts'
import { deliveryStatuses, mostAttempts } from './webhook-delivery.ts'
import { WebhookEndpointNamed } from './webhook-endpoint-input.ts'

const pageSize = 20

export const ListWebhookDeliveriesInput = WebhookEndpointNamed.extend({
  status: optional(oneOf(deliveryStatuses)),
  // In a query it comes as text.
  before: optional(z.unknown()).transform((given, context) => {
    if (given === null) return null
    const isNumber = /^[1-9]\d{0,8}$/.test(String(given))
    return isNumber ? Number(given) : refuse(context, 'INVALID_PARAMETER', 'must be the sequence of an event')
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
  const { webhookId, status, before, limit } = parse(ListWebhookDeliveriesInput, input)
  const { id: endpointId } = await webhookEndpoints.get(context, webhookId)
  const range = {
    above: 0,
    below: before ?? everything.below,
    limit: limit + 1,
    isAscending: false,
    withAttempts: true,
  }
  const found = await deliveriesOf(context, { endpointId, status, ...anyTime }, range)
  const items = found.slice(0, limit)
  return { items, limit, next: found.length > limit ? (items.at(-1)?.sequence ?? null) : null }
}

/** By what the log of an endpoint is narrowed. */
const filters = { status: byOneOf(deliveryStatuses, 'Only what became of events in this way.') }

const SliceInput = z.object({ status: filters.status.schema, ...createdFields, ...sliceFields })
type Slicing = Partial<z.input<typeof SliceInput>>

const parseSlice = sliceParser(SliceInput, null) as (input: object) => z.output<typeof SliceInput>

/** The logs of endpoints as lists of many parents are read. */
export const webhookDeliveries = {
  filters,
  columns: (wanted: readonly string[]): Columns => columnsOf([...wanted, 'sequence']),
  slice: neverAlone,
  find: neverAlone,
  sliceParser: () => parseSlice,
  /** Each endpoint's log is asked for alone: a merchant has few, and each has an index of its own. */
  slicesOf: (_: 'endpoint') =>
    slicesOfLogs as unknown as {
      (context: Asking, ids: readonly string[], input: Slicing, columns: Columns): Promise<Slices<Values>>
      (context: Asking, ids: readonly string[], input: Slicing): Promise<Slices<WebhookDelivery>>
    },
}

type Slices<Row> = ReadonlyMap<string, Slice<Row>>

async function slicesOfLogs(
  context: Asking,
  ids: readonly string[],
  input: Slicing,
  columns?: Columns,
): Promise<Slices<never>> {
  const parsed = parseSlice(input)
  // The same for the logs of all endpoints, because it is of the merchant's events.
  let found: ReturnType<typeof spanOf> | null = null
  const span = () => {
    found ??= spanOfEvents(context, parsed)
    return found
  }
  const asked = { ...parsed, span, withAttempts: columns === undefined || columns.names.includes('log') }
  const slices = ids.map(async (id) => [id, chosen(await sliceOfLog(context, id, asked), columns)] as const)
  return new Map(await Promise.all(slices))
}

async function neverAlone(): Promise<never> {
  throw new Error('deliveries are those of an endpoint')
}

/** What is asked of each log, with what finds the events of the times that are asked for. */
type SliceOfLog = z.output<typeof SliceInput> & {
  readonly span: () => ReturnType<typeof spanOf>
  readonly withAttempts: boolean
}

function sliceOfLog(
  context: Asking,
  endpointId: string,
  { span, withAttempts, first, after, last, before, ...filters }: SliceOfLog,
): Answer<Slice<WebhookDelivery>> {
  const { db, merchantId } = context
  const which = { endpointId, ...filters }
  const list = {
    name: ['webhook_deliveries', { merchantId, ...which }],
    sequenceOf: ({ sequence }: WebhookDelivery) => sequence,
    rows: async (range: SequenceRange) => {
      const within = intersection(range, await span())
      return isEmpty(within) ? [] : deliveriesOf(context, which, { ...range, ...within, withAttempts })
    },
    total: async () => {
      const asked = { merchantId, endpointId, ...narrowingOf(which), ...(await span()), limit: countLimit + 1 }
      const [counted] = await countOfDeliveries(db, asked)
      const count = Number(counted?.count ?? 0)
      return count > countLimit ? null : count
    },
  }
  return sliceOf(list, { first, after, last, before })
}

/** The numbers between which the events of a time lie, a little wide. */
export function spanOfEvents(
  { db, merchantId }: { readonly db: Reader; readonly merchantId: string },
  created: Created,
): ReturnType<typeof spanOf> {
  return spanOf(created, async (fromSequence) => {
    const event = await eventAtOrBefore(db, { merchantId, fromSequence })
    return event && { sequence: event.sequence, createdAt: timestamp(Number(event.time)) }
  })
}

/** The same slice with the values of chosen columns. */
function chosen(slice: Slice<WebhookDelivery>, columns: Columns | undefined): Slice<never> {
  if (columns === undefined) return slice as unknown as Slice<never>
  const rows = new Map<Values, WebhookDelivery>(
    slice.items.map((row) => [columns.names.map((name) => cellOf(undefined, name)(row)), row]),
  )
  const cursorOf = (values: Values) => slice.cursorOf(rows.get(values) as WebhookDelivery)
  return { ...slice, items: [...rows.keys()], cursorOf } as unknown as Slice<never>
}

type Which = Created & { readonly endpointId: string; readonly status: WebhookDelivery['status'] | null }

const anyTime: Created = { createdFrom: null, createdBefore: null }

/** What a query binds: the times are those of the events. */
function narrowingOf({ status, createdFrom, createdBefore }: Which) {
  return {
    ...(status !== null && { status }),
    ...(createdFrom !== null && { fromTime: BigInt(Date.parse(createdFrom)) }),
    ...(createdBefore !== null && { beforeTime: BigInt(Date.parse(createdBefore)) }),
  }
}

/** Attempts are up to 20 rows a delivery with long answers, so they are read only where they are asked for. */
async function deliveriesOf(
  { db, merchantId }: Asking,
  which: Which,
  { isAscending, withAttempts, ...range }: SequenceRange & { readonly withAttempts: boolean },
): Promise<WebhookDelivery[]> {
  const { endpointId } = which
  const asked = { merchantId, endpointId, ...narrowingOf(which), ...range, ...(isAscending && { isAscending }) }
  const rows = await deliveriesInRange(db, asked)
  const sequences = rows.map(({ sequence }) => sequence)
  const those = { merchantId, endpointId, sequences, most: mostAttempts }
  const attempts = withAttempts && sequences.length > 0 ? await attemptsOfDeliveries(db, those) : []
  const log = Map.groupBy(attempts, ({ sequence }) => sequence)
  return rows.map((row) => ({ ...row, log: log.get(row.sequence) ?? [] }))
}
