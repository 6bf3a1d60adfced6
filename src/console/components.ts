import { formatAmount } from '../core/money/amount.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import type { FormValues, PageRequest } from './console-page.ts'

/** How a status looks beside its word: never by colour alone. */
const statusStyles: Readonly<Record<string, readonly [kind: string, mark: string]>> = {
  COMPLETED: ['good', '✓'],
  delivered: ['good', '✓'],
  enabled: ['good', '✓'],
  CONFIRMED: ['good', '✓'],
  live: ['good', '✓'],
  holds: ['good', '✓'],
  running: ['good', '✓'],
  IN_FORCE: ['good', '✓'],
  PROCESSING: ['busy', '…'],
  pending: ['busy', '…'],
  FUTURE: ['busy', '…'],
  FAILED: ['bad', '✕'],
  exhausted: ['bad', '✕'],
  disabled: ['bad', '✕'],
  contradicts: ['bad', '✕'],
  RETURNED: ['warn', '↩'],
  ATTENTION: ['warn', '!'],
  failing: ['warn', '!'],
  paused: ['warn', '‖'],
}

export function statusBadge(word: string): Html {
  const [kind, mark] = statusStyles[word] ?? ['plain', '·']
  return html`<span class="status ${kind}"><span aria-hidden="true">${mark}</span> ${word.replace(/_/g, ' ')}</span>`
}

/** A moment in UTC, to the second. */
export function timeElement(at: string | null): Html {
  if (at === null) return emptyValue
  return html`<time datetime="${at}">${at.slice(0, 19).replace('T', ' ')}</time>`
}

export const emptyValue = html`<span class="faint">–</span>`

export function valueOrEmpty(text: string | number | null | undefined): Html {
  return text === null || text === undefined || text === '' ? emptyValue : html`${text}`
}

/** An id in full, to be copied. */
export function idElement(text: string | null): Html {
  return text === null ? emptyValue : html`<code>${text}</code>`
}

/** A link by an id's end, which tells it from its neighbours; the whole of it is where it leads to. */
export function shortIdLink(href: string, uuid: string): Html {
  return html`<a href="${href}" title="${uuid}"><code>…${uuid.slice(-12)}</code></a>`
}

/** An amount with as many places as it needs, two at least. */
export function assetAmount(amount: bigint | null, unit = ''): Html {
  if (amount === null) return emptyValue
  return html`<span class="money">${formatAmount(amount).replace(/0{1,6}$/, '')}${unit && ` ${unit}`}</span>`
}

/** An amount of a currency, which is a decimal string of eight places, in the same way. */
export function fiatAmount(amount: string, unit: string): Html {
  return html`<span class="money">${amount.replace(/0{1,6}$/, '')} ${unit}</span>`
}

/** A column of a table: its name, and whether numbers stand in it. */
type ConsoleColumn = string | { readonly name: string; readonly isNumber: true }

/**
 * A table that is a list of cards where there is little room; the roles say that it is a table all the same.
 *
 * @param empty what is said where it has no rows
 */
export function table(
  caption: string,
  columns: readonly ConsoleColumn[],
  rows: readonly (readonly Html[])[],
  empty: string,
): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>\n`
  const named = columns.map((column) => (typeof column === 'string' ? { name: column, isNumber: false } : column))
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

/** What is known of one thing. */
export function descriptionList(all: readonly (readonly [name: string, value: Html])[]): Html {
  return html`<dl class="facts">
${all.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
`
}

/** A control that narrows a list: a text, or one of some values. */
type ListFilter = {
  readonly name: string
  readonly label: string
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly hint?: string
}

/** What narrows the list of a page. */
export function filterForm(
  { query, urlFor: to, path }: PageRequest,
  all: readonly ListFilter[],
  button = 'Show',
): Html {
  return html`<form method="get" action="${to(path)}" class="filters">
${all.map(({ name, label, options, hint = '' }) =>
  options
    ? html`<label>${label} <select name="${name}"><option value="">Any</option>${options.map(
        ([value, text]) => html`<option value="${value}"${booleanAttribute(query[name] === value)}>${text}</option>`,
      )}</select></label>\n`
    : html`<label>${label} <input name="${name}" value="${query[name] ?? ''}" placeholder="${hint}" autocomplete="off" spellcheck="false"></label>\n`,
)}<button>${button}</button>
</form>
`
}

export function booleanAttribute(isSelected: boolean, word = 'selected'): Html {
  return isSelected ? html` ${word}` : html``
}

/** The ways to the parts of a list before and after this one; `null` where there is none. */
export function pager(
  { urlFor: to, path, query }: PageRequest,
  { newer = null, older }: { newer?: FormValues | null; older: FormValues | null },
): Html {
  if (newer === null && older === null) return html``
  const { after: _, before: __, done: ___, ...kept } = query
  const pageLink = (place: FormValues, text: string) => html`<a href="${to(path, { ...kept, ...place })}">${text}</a>`
  return html`<nav class="pager" aria-label="Parts of the list">${newer ? pageLink(newer, '← Before') : ''}${older ? pageLink(older, 'More →') : ''}</nav>
`
}

/** The parts around a slice of a list. */
export function slicePager<Item>(
  asked: PageRequest,
  slice: {
    readonly items: readonly Item[]
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly cursorOf: (item: Item) => string
  },
): Html {
  const [first, last] = [slice.items[0], slice.items.at(-1)]
  return pager(asked, {
    newer: slice.hasPreviousPage && first !== undefined ? { before: slice.cursorOf(first) } : null,
    older: slice.hasNextPage && last !== undefined ? { after: slice.cursorOf(last) } : null,
  })
}

/** The slice that a page's address asks for. */
export function sliceArgs({ query: { after, before } }: PageRequest) {
  return before ? { last: 20, before } : { first: 20, after }
}
