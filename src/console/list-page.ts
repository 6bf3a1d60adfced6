import { httpStatusByCode } from '../core/api/http-status.ts'
import type { FieldError } from '../core/errors.ts'
import { DomainError, invalidInput } from '../core/errors.ts'
import type { Amount } from '../core/money/amount.ts'
import { describeInvalidAmount, parseAmount } from '../core/money/amount.ts'
import type { ListSearch, SearchResult } from '../lists/define-list.ts'
import type { OwnerFilter } from '../lists/filters.ts'
import type { Slice, SliceableList } from '../lists/slice.ts'
import { maxSliceSize } from '../lists/slice.ts'
import { customers } from '../modules/customers/list.ts'
import type { ExportCell } from '../modules/exports/export.ts'
import { csvLine } from '../modules/exports/export-formats.ts'
import { merchantById } from '../modules/merchants/repository.ts'
import { listAcrossMerchants } from '../modules/operators/list-across-merchants.ts'
import { customerName, startOfDay } from '../modules/operators/list-rows.ts'
import type { Context, Service } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import type { ConsoleColumn, ListFilter } from './components.ts'
import { filterForm, pager, sliceArgs, slicePager, table, timeElement } from './components.ts'
import type { ConsolePage, FormValues, PageContent, PageRequest } from './console-page.ts'
import { chooseMerchant } from './merchants-page.ts'
import { groupThousands, maxCounted, totalText } from './phrases.ts'

type ListedItem = {
  readonly id: string
  readonly merchantId: string
  readonly createdAt: string
  readonly customerId?: string | null
}

export type CellContext = Pick<PageRequest, 'urlFor'> & { readonly now: number; readonly names: OwnerNames }

export type OwnerNames = ReadonlyMap<string, string>

export type ListColumn<Item> = {
  readonly column: ConsoleColumn
  readonly cell: (item: Item, context: CellContext) => Html
  /** The column with the owner's name is omitted if all rows have the same owner. */
  readonly names?: 'customer' | 'merchant'
}

type ConsoleList<Input extends object, Item extends ListedItem> = {
  readonly path: string
  readonly title: string
  readonly noun: string
  readonly list: SliceableList<Context, Input, Item>
  /** Searches by amount. A list with `search` must have a filter with the name `asset`. */
  readonly search?: (context: Context, input: Input, search: ListSearch) => Promise<SearchResult<Item>>
  readonly filters: readonly ListFilter[]
  readonly filterOf: (query: FormValues) => Partial<Input>
  readonly columns: readonly ListColumn<Item>[]
  /** Whether the list never has a total. */
  readonly isUncounted?: boolean
  readonly record: (item: Item) => Readonly<Record<string, ExportCell>>
  readonly empty: Html
  readonly above?: (request: PageRequest) => Promise<Html>
}

/** The maximum number of rows in a CSV file of the console. */
const maxFileRows = 10_000

/**
 * Lists the items of one or all merchants, newest first. The filters are query parameters of the URL, so that a
 * filtered list can be linked.
 */
export function listPage<Input extends object, Item extends ListedItem>(spec: ConsoleList<Input, Item>): ConsolePage {
  return {
    path: spec.path,
    render: (request) => renderList(spec, request),
    download: (request) => ({ name: `${fileName(spec.title)}.csv`, chunks: writeCsv(spec, request) }),
  }
}

async function renderList<Input extends object, Item extends ListedItem>(
  spec: ConsoleList<Input, Item>,
  request: PageRequest,
): Promise<PageContent> {
  const { service, query, urlFor, path } = request
  const opened = await openList(spec, request)
  const above = spec.above ? await spec.above(request) : ''
  const part = await readPart(spec, request, opened)
  if (part instanceof Map) {
    const form = filterForm(request, opened.filters, { errors: part })
    return { title: spec.title, code: httpStatusByCode.INVALID_INPUT, body: html`${above}${form}` }
  }
  const { items, total, links } = part
  const { after: _, before: __, done: ___, ...filters } = query
  const isFiltered = Object.values(filters).some((value) => value !== '')
  const hasTotal = !spec.isUncounted && opened.search === null
  const count = hasTotal ? html`<span>${totalText(total, spec.noun)}</span>` : html``
  const summary = html`<p class="summary">${count}<a href="${urlFor(path, { ...filters, format: 'csv' })}" download>Download CSV</a><span class="faint">of these, at most ${groupThousands(maxFileRows)} rows</span></p>`
  const empty = isFiltered
    ? html`<p class="empty">No ${spec.noun} matches these filters. <a href="${urlFor(path)}">Show all</a></p>`
    : html`<p class="empty">${spec.empty}</p>`
  const columns = opened.context === null ? spec.columns : withoutMerchant(spec.columns)
  const names = await findOwnerNames(service, items)
  const list =
    items.length === 0
      ? empty
      : html`${summary}${itemsTable({ title: spec.title, columns }, request, { items, names })}`
  return { title: spec.title, body: html`${above}${filterForm(request, opened.filters)}\n${list}${links}` }
}

export function withoutMerchant<Item>(columns: readonly ListColumn<Item>[]): readonly ListColumn<Item>[] {
  return columns.filter(({ names }) => names !== 'merchant')
}

export function itemsTable<Item>(
  { title, columns }: { readonly title: string; readonly columns: readonly ListColumn<Item>[] },
  { urlFor, service }: Pick<PageRequest, 'urlFor' | 'service'>,
  { items, names }: { items: readonly Item[]; names: OwnerNames },
): Html {
  const context = { urlFor, now: service.now(), names }
  const rows = items.map((item) => columns.map(({ cell }) => cell(item, context)))
  return table(
    title,
    columns.map(({ column }) => column),
    rows,
    '',
  )
}

const createdFilters: readonly ListFilter[] = [
  { name: 'created-from', label: 'Created from', type: 'date', field: 'createdFrom' },
  { name: 'created-before', label: 'Created before', type: 'date', field: 'createdBefore' },
]

const amountFilters: readonly ListFilter[] = [
  { name: 'amount-from', label: 'Amount from', hint: '0.01', size: 6 },
  { name: 'amount-to', label: 'Amount to', hint: '1000', size: 6 },
]

/** Amounts are not indexed, so a search by amount reads at most `maxSearchedRows` rows per request. */
const maxSearchedRows = 10_000

type OpenedList = {
  readonly context: Context | null
  readonly filters: readonly ListFilter[]
  readonly search: ListSearch | null
  readonly errors: readonly FieldError[]
}

async function openList<Input extends object, Item extends ListedItem>(
  spec: ConsoleList<Input, Item>,
  request: PageRequest,
): Promise<OpenedList> {
  const { context, filter, isUnknown } = await chooseMerchant(request)
  const filters = [filter, ...spec.filters, ...(spec.search ? amountFilters : []), ...createdFilters]
  const unknown = { field: filter.name, code: 'INVALID_PARAMETER', message: 'must be the id of a merchant' } as const
  const { search, errors } = spec.search
    ? parseAmounts(request.query, { filters, context })
    : { search: null, errors: [] }
  return { context, filters, search, errors: isUnknown ? [unknown, ...errors] : errors }
}

/** A search by amount reads the rows of one merchant, and compares amounts of one currency. */
function parseAmounts(
  query: FormValues,
  { filters, context }: Pick<OpenedList, 'filters' | 'context'>,
): Pick<OpenedList, 'search' | 'errors'> {
  const errors: FieldError[] = []
  const parse = ({ name }: ListFilter) => {
    const text = query[name]?.trim()
    if (!text) return null
    const amount = parseAmount(text)
    if (amount === null) errors.push({ field: name, code: 'INVALID_FORMAT', message: describeInvalidAmount(text) })
    const missing = [query.asset ? null : 'asset', context === null ? 'merchant' : null].flatMap(
      (each) => filters.find((filter) => filter.name === each)?.label ?? [],
    )
    const message = `needs a choice of “${missing.join('” and “')}”`
    if (missing.length > 0) errors.push({ field: name, code: 'MISSING_REQUIRED_FIELD', message })
    return amount
  }
  const [from = null, to = null] = amountFilters.map(parse)
  if (from === null && to === null) return { search: null, errors }
  const matches = ([amount]: readonly unknown[]) =>
    (from === null || (amount as Amount) >= from) && (to === null || (amount as Amount) <= to)
  return { search: { names: ['amount'], matches, maxRows: maxSearchedRows }, errors }
}

function inputOf<Input extends object>(
  { filterOf }: { filterOf: (query: FormValues) => Partial<Input> },
  query: FormValues,
) {
  const created = {
    createdFrom: startOfDay(query['created-from'] || undefined),
    createdBefore: startOfDay(query['created-before'] || undefined),
  }
  return { ...filterOf(query), ...created } as Input & typeof created
}

type ListPart<Item> = { readonly items: readonly Item[]; readonly total: number | null; readonly links: Html }

/**
 * If a filter is invalid, returns the error messages by filter name.
 *
 * @throws DomainError if no filter caused the error
 */
async function readPart<Input extends object, Item extends ListedItem>(
  spec: ConsoleList<Input, Item>,
  request: PageRequest,
  opened: OpenedList,
): Promise<ListPart<Item> | Map<string, string>> {
  try {
    if (opened.errors.length > 0) throw invalidInput(opened.errors)
    return await readItems(spec, request, opened)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const filterOfField = (name: string) => opened.filters.find((filter) => (filter.field ?? filter.name) === name)
    const messages = error.details.fields?.map(({ field, message }) => [filterOfField(field), message] as const) ?? []
    if (messages.length === 0 || messages.some(([filter]) => filter === undefined)) throw error
    return new Map(
      messages.flatMap(([filter, message]) => (filter ? [[filter.name, `${filter.label} ${message}`]] : [])),
    )
  }
}

async function readItems<Input extends object, Item extends ListedItem>(
  spec: ConsoleList<Input, Item>,
  request: PageRequest,
  { context, search }: OpenedList,
): Promise<ListPart<Item>> {
  const filter = inputOf(spec, request.query)
  const after = request.query.after || undefined
  const linkTo = (next: string | null) => pager(request, { older: next === null ? null : { after: next } })
  if (context !== null && search !== null && spec.search) {
    const { items, next, searchedUntil } = await spec.search(context, { ...filter, after }, search)
    const note = html`<p class="faint">Amounts are compared ${groupThousands(maxSearchedRows)} rows at a time. ${next === null ? 'No more rows are left to compare.' : html`Compared until ${timeElement(searchedUntil)}.`}</p>\n`
    return { items, total: null, links: html`${note}${linkTo(next)}` }
  }
  if (context !== null) {
    const slice: Slice<Item> = await spec.list.slice(context, { ...filter, ...sliceArgs(request) })
    return { items: slice.items, total: await slice.total(maxCounted), links: slicePager(request, slice) }
  }
  const { items, total, next } = await listAcrossMerchants(
    request.service,
    { list: spec.list, filter },
    { after, maxCounted },
  )
  return { items, total, links: linkTo(next) }
}

async function* writeCsv<Input extends object, Item extends ListedItem>(
  spec: ConsoleList<Input, Item>,
  request: PageRequest,
): AsyncGenerator<string> {
  const { context, search, errors } = await openList(spec, request)
  if (errors.length > 0) throw invalidInput(errors)
  const filter = inputOf(spec, request.query)
  const read = async (after: string | undefined) => {
    const args = { first: maxSliceSize, after }
    if (context === null) return listAcrossMerchants(request.service, { list: spec.list, filter }, args)
    if (search !== null && spec.search) return spec.search(context, { ...filter, ...args }, search)
    const slice: Slice<Item> = await spec.list.slice(context, { ...filter, ...args })
    const last = slice.items.at(-1)
    return { items: slice.items, next: slice.hasNextPage && last !== undefined ? slice.cursorOf(last) : null }
  }
  let after: string | null | undefined
  let hasHead = false
  for (let count = 0; after !== null && count < maxFileRows; count += maxSliceSize) {
    const { items, next }: { items: readonly Item[]; next: string | null } = await read(after)
    const records = items.map((item) => ({ ...spec.record(item), merchantId: item.merchantId }))
    if (!hasHead && records[0] !== undefined) yield csvLine(Object.keys(records[0]))
    hasHead ||= records.length > 0
    if (records.length > 0) yield records.map((record) => csvLine(Object.values(record))).join('')
    after = next
  }
}

function fileName(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-')
}

export async function findOwnerNames(
  { db }: Pick<Service, 'db'>,
  items: readonly Pick<ListedItem, 'merchantId' | 'customerId'>[],
): Promise<OwnerNames> {
  const names = new Map<string, string>()
  for (const merchantId of new Set(items.map((item) => item.merchantId))) {
    const merchant = await merchantById(db, { id: merchantId })
    if (merchant) names.set(merchantId, merchant.name)
    const customerIds = items.flatMap((item) => (item.merchantId === merchantId ? (item.customerId ?? []) : []))
    if (customerIds.length === 0) continue
    const owners = await customers.find({ db, merchantId }, [...new Set(customerIds)])
    for (const owner of owners) names.set(owner.id, customerName(owner))
  }
  return names
}

export function ownerFilter(customer: string | undefined): OwnerFilter {
  return customer ? { customerId: customer } : 'any'
}

export function merchantLink({ merchantId }: { readonly merchantId: string }, { urlFor, names }: CellContext): Html {
  return html`<a href="${urlFor(`/merchants/${merchantId}`)}">${names.get(merchantId) ?? merchantId}</a>`
}

export function ownerLink(
  { customerId }: { readonly customerId?: string | null },
  { urlFor, names }: CellContext,
): Html {
  if (!customerId) return html`<span class="faint">the merchant</span>`
  return html`<a href="${urlFor(`/customers/${customerId}`)}">${names.get(customerId) || customerId}</a>`
}
