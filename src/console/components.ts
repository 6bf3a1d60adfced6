import { formatAmount } from '../core/money/amount.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import type { Fact, FormValues, PageRequest } from './console-page.ts'
import { formatDuration, groupThousands } from './phrases.ts'

/** A symbol such as ✓ distinguishes statuses for people who cannot see colours. */
const statusStyles: Readonly<Record<string, readonly [kind: string, mark: string]>> = {
  COMPLETED: ['good', '✓'],
  delivered: ['good', '✓'],
  enabled: ['good', '✓'],
  active: ['good', '✓'],
  CONFIRMED: ['good', '✓'],
  CREDITED: ['good', '✓'],
  live: ['good', '✓'],
  holds: ['good', '✓'],
  running: ['good', '✓'],
  answered: ['good', '✓'],
  IN_FORCE: ['good', '✓'],
  PROCESSING: ['busy', '…'],
  pending: ['busy', '…'],
  FUTURE: ['busy', '…'],
  FAILED: ['bad', '✕'],
  REJECTED: ['bad', '✕'],
  exhausted: ['bad', '✕'],
  disabled: ['bad', '✕'],
  suspended: ['bad', '✕'],
  contradicts: ['bad', '✕'],
  RETURNED: ['warn', '↩'],
  REVERSED: ['warn', '↩'],
  ATTENTION: ['warn', '!'],
  failing: ['warn', '!'],
  unanswered: ['warn', '!'],
  UNKNOWN: ['warn', '!'],
  paused: ['warn', '‖'],
}

export function statusBadge(word: string): Html {
  const [kind, mark] = statusStyles[word] ?? ['plain', '·']
  return html`<span class="status ${kind}"><span aria-hidden="true">${mark}</span> ${word.replace(/_/g, ' ')}</span>`
}

export function timeElement(time: string | null): Html {
  if (time === null) return emptyValue
  return html`<time datetime="${time}">${time.slice(0, 19).replace('T', ' ')}</time>`
}

export function ageElement(time: string, now: number): Html {
  const seconds = (now - Date.parse(time)) / 1_000
  if (seconds < 0 || seconds >= daySeconds) return timeElement(time)
  const age = seconds < 60 ? 'just now' : `${formatDuration(seconds)} ago`
  return html`<time datetime="${time}" title="${time.slice(0, 19).replace('T', ' ')} UTC">${age}</time>`
}

const daySeconds = 86_400

export const emptyValue = html`<span class="faint">–</span>`

export function valueOrEmpty(text: string | number | null | undefined): Html {
  return text === null || text === undefined || text === '' ? emptyValue : html`${text}`
}

export function idElement(text: string | null): Html {
  return text === null ? emptyValue : html`<code>${text}</code>`
}

/** The console's script adds a button that copies the text. */
export function copyableId(text: string | null, name: string): Html {
  return text === null ? emptyValue : html`<code data-copy="${name}">${text}</code>`
}

/** UUIDs from the same time start with the same digits, so the link shows the last digits. */
export function shortIdLink(href: string, uuid: string): Html {
  return html`<a href="${href}" title="${uuid}"><code>…${uuid.slice(-12)}</code></a>`
}

export function assetAmount(amount: bigint | null, unit = ''): Html {
  return amount === null ? emptyValue : fiatAmount(formatAmount(amount), unit)
}

/** @param amount a decimal string with eight decimal places */
export function fiatAmount(amount: string, unit: string): Html {
  const [whole = '', places = ''] = amount.split('.')
  return html`<span class="money">${groupThousands(BigInt(whole))}.${places.replace(/0{1,6}$/, '')}${unit && ` ${unit}`}</span>`
}

export type ConsoleColumn = string | { readonly name: string; readonly isNumber: true }

/**
 * Narrow screens show the rows of a table as cards. ARIA roles tell screen readers that the cards are rows of a table.
 *
 * @param columns a column that is `false` is omitted with its cells, for example `session.can('act') && 'Actions'`
 * @param empty shown if the table has no rows
 */
export function table(
  caption: string,
  columns: readonly (ConsoleColumn | false)[],
  allRows: readonly (readonly Html[])[],
  empty: string,
): Html {
  if (allRows.length === 0) return html`<p class="empty">${empty}</p>\n`
  const rows = allRows.map((row) => row.filter((_, place) => columns[place] !== false))
  const named = columns
    .filter((column) => column !== false)
    .map((column) => (typeof column === 'string' ? { name: column, isNumber: false } : column))
  return html`<table role="table"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${named.map(
    ({ name, isNumber }) => html`<th role="columnheader" scope="col"${numberClass(isNumber)}>${name}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (row) =>
    html`<tr role="row">${row.map(
      (cell, place) =>
        html`<td role="cell" data-label="${named[place]?.name ?? ''}"${numberClass(named[place]?.isNumber)}><div>${cell}</div></td>`,
    )}</tr>\n`,
)}</tbody></table>
`
}

function numberClass(isNumber: boolean | undefined): Html {
  return isNumber ? html` class="number"` : html``
}

export function numberColumn(name: string): ConsoleColumn {
  return { name, isNumber: true }
}

export function descriptionList(items: readonly Fact[]): Html {
  return html`<dl class="facts">
${items.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
`
}

export type ListFilter = {
  readonly name: string
  readonly label: string
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly hint?: string
  readonly type?: 'date'
  /** The name of the operation's input field, if the filter has a different name. */
  readonly field?: string
  readonly size?: number
}

export function choices(values: readonly string[]): readonly (readonly [value: string, text: string])[] {
  return values.map((value) => [value, value])
}

/** @param errors the reasons why values were rejected, by the name of the filter */
export function filterForm(
  { query, urlFor, path }: PageRequest,
  filters: readonly ListFilter[],
  { button = 'Show', errors = new Map() }: { button?: string; errors?: ReadonlyMap<string, string> } = {},
): Html {
  return html`<form method="get" action="${urlFor(path)}" class="filters">
${filters.map((filter) => {
  const error = errors.get(filter.name)
  const note = error === undefined ? '' : html`<small class="invalid">${error}</small>`
  return html`<label>${filter.label} ${filterControl(filter, query[filter.name] ?? '', error !== undefined)}${note}</label>\n`
})}<button>${button}</button>
</form>
`
}

function filterControl(
  { name, options, hint = '', type, size = 8 }: ListFilter,
  current: string,
  isInvalid: boolean,
): Html {
  const invalid = isInvalid ? html` aria-invalid="true"` : ''
  if (!options)
    return html`<input type="${type ?? 'text'}" name="${name}" value="${current}" placeholder="${hint}" size="${size}" autocomplete="off" spellcheck="false"${invalid}>`
  return html`<select name="${name}"${invalid}><option value="">Any</option>${options.map(
    ([value, text]) => html`<option value="${value}"${booleanAttribute(current === value)}>${text}</option>`,
  )}</select>`
}

export function booleanAttribute(isPresent: boolean, name = 'selected'): Html {
  return isPresent ? html` ${name}` : html``
}

/**
 * `newer` and `older` are the URL queries for the adjacent parts of the list, or `null` if there is no adjacent part.
 */
export function pager(
  { urlFor, path, query }: PageRequest,
  { newer = null, older }: { newer?: FormValues | null; older: FormValues | null },
): Html {
  if (newer === null && older === null) return html``
  const { after: _, before: __, done: ___, ...filters } = query
  const pageLink = (cursor: FormValues, text: string) =>
    html`<a href="${urlFor(path, { ...filters, ...cursor })}">${text}</a>`
  return html`<nav class="pager" aria-label="Parts of the list">${newer ? pageLink(newer, '← Before') : ''}${older ? pageLink(older, 'More →') : ''}</nav>
`
}

export function slicePager<Item>(
  request: PageRequest,
  slice: {
    readonly items: readonly Item[]
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly cursorOf: (item: Item) => string
  },
): Html {
  const [first, last] = [slice.items[0], slice.items.at(-1)]
  return pager(request, {
    newer: slice.hasPreviousPage && first !== undefined ? { before: slice.cursorOf(first) } : null,
    older: slice.hasNextPage && last !== undefined ? { after: slice.cursorOf(last) } : null,
  })
}

export function sliceArgs({ query: { after, before } }: PageRequest) {
  return before ? { last: 20, before } : { first: 20, after }
}
