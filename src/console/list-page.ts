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
import { filterForm, pager, sliceArgs, slicePager, table } from './components.ts'
import type { ConsolePage, FormValues, PageContent, PageRequest } from './console-page.ts'
import { chooseMerchant } from './merchants-page.ts'
import { groupThousands, pluralize } from './phrases.ts'

type ListedItem = {
  readonly id: string
  readonly merchantId: string
  readonly createdAt: string
  readonly customerId?: string | null
}

/** What the cells of a row show besides the row itself. */
export type CellContext = Pick<PageRequest, 'urlFor'> & { readonly now: number; readonly names: OwnerNames }

/** The names of merchants and customers by id. */
export type OwnerNames = ReadonlyMap<string, string>

export type ListColumn<Item> = {
  readonly column: ConsoleColumn
  readonly cell: (item: Item, context: CellContext) => Html
  /** Marks the columns that name the owner, which are left out on the owner's page. */
  readonly names?: 'customer' | 'merchant'
}

type ConsoleList<Input extends object, Item extends ListedItem> = {
  readonly path: string
  readonly title: string
  /** In the singular: `payout`. */
  readonly noun: string
  readonly list: SliceableList<Context, Input, Item>
  readonly filters: readonly ListFilter[]
  readonly filterOf: (query: FormValues) => Partial<Input>
  readonly columns: readonly ListColumn<Item>[]
  /** The record of an item in the file, by column. */
  readonly record: (item: Item) => Readonly<Record<string, ExportCell>>
  /** Says how the first item comes to be. */
  readonly empty: Html
  readonly above?: (request: PageRequest) => Promise<Html>
}

/** More rows are for the exports, which are verified against the ledger. */
const maxFileRows = 10_000

/**
 * A page that lists the items of all merchants, or of one, newest first. The filters are in its address, so that it can be
 * linked; `format=csv` downloads the filtered items.
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
  const { context, filter } = await chooseMerchant(request)
  const { items, total, links } = await readItems(spec, request, context)
  const { after: _, before: __, done: ___, ...filters } = query
  const isFiltered = Object.values(filters).some((value) => value !== '')
  const count = total === null ? html`` : html`<span>${pluralize(total, spec.noun)}</span>`
  const summary = html`<p class="summary">${count}<a href="${urlFor(path, { ...filters, format: 'csv' })}" download>Download CSV</a><span class="faint">of these, at most ${groupThousands(maxFileRows)} rows</span></p>`
  const empty = isFiltered
    ? html`<p class="empty">No ${spec.noun} matches these filters. <a href="${urlFor(path)}">Show all</a></p>`
    : html`<p class="empty">${spec.empty}</p>`
  return {
    title: spec.title,
    body: html`${spec.above ? await spec.above(request) : ''}${filterForm(request, [filter, ...spec.filters, ...createdFilters])}
${items.length === 0 ? empty : html`${summary}${itemsTable(spec, request, { items, names: await findOwnerNames(service, items) })}${links}`}`,
  }
}

/** Renders items as the list does, for the pages of their owners. */
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
  { name: 'created-from', label: 'Created from', type: 'date' },
  { name: 'created-before', label: 'Created before', type: 'date' },
]

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

async function readItems<Input extends object, Item extends ListedItem>(
  spec: ConsoleList<Input, Item>,
  request: PageRequest,
  context: Context | null,
): Promise<{ items: readonly Item[]; total: number | null; links: Html }> {
  const filter = inputOf(spec, request.query)
  if (context !== null) {
    const slice: Slice<Item> = await spec.list.slice(context, { ...filter, ...sliceArgs(request) })
    return { items: slice.items, total: await slice.total(), links: slicePager(request, slice) }
  }
  const after = request.query.after || undefined
  const { items, total, next } = await listAcrossMerchants(request.service, { list: spec.list, filter }, { after })
  return { items, total, links: pager(request, { older: next === null ? null : { after: next } }) }
}

async function* writeCsv<Input extends object, Item extends ListedItem>(
  spec: ConsoleList<Input, Item>,
  request: PageRequest,
): AsyncGenerator<string> {
  const { context } = await chooseMerchant(request)
  const filter = inputOf(spec, request.query)
  const read = async (after: string | undefined) => {
    if (context === null)
      return listAcrossMerchants(request.service, { list: spec.list, filter }, { first: maxSliceSize, after })
    const slice: Slice<Item> = await spec.list.slice(context, { ...filter, first: maxSliceSize, after })
    const last = slice.items.at(-1)
    return { items: slice.items, next: slice.hasNextPage && last !== undefined ? slice.cursorOf(last) : null }
  }
  let after: string | null | undefined
  for (let count = 0; after !== null && count < maxFileRows; count += maxSliceSize) {
    const { items, next }: { items: readonly Item[]; next: string | null } = await read(after)
    const records = items.map((item) => ({ ...spec.record(item), merchantId: item.merchantId }))
    if (count === 0 && records[0] !== undefined) yield csvLine(Object.keys(records[0]))
    if (records.length > 0) yield records.map((record) => csvLine(Object.values(record))).join('')
    after = next
  }
}

function fileName(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-')
}

/** Finds the names of the merchants and customers that own some items. */
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

/** Filters by a customer's id; without one the owner may be any. */
export function ownerFilter(customer: string | undefined): OwnerFilter {
  return customer ? { customerId: customer } : 'any'
}

export function merchantLink({ merchantId }: { readonly merchantId: string }, { urlFor, names }: CellContext): Html {
  return html`<a href="${urlFor(`/merchants/${merchantId}`)}">${names.get(merchantId) ?? merchantId}</a>`
}

/** Links the customer that owns an item; the merchant's own items have none. */
export function ownerLink(
  { customerId }: { readonly customerId?: string | null },
  { urlFor, names }: CellContext,
): Html {
  if (!customerId) return html`<span class="faint">the merchant</span>`
  return html`<a href="${urlFor(`/customers/${customerId}`)}">${names.get(customerId) || customerId}</a>`
}
