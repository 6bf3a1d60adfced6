import { styleText } from 'node:util'
import { Help } from 'commander'
import stringWidth from 'string-width'
import { areNumbers, formatCell, formatNumbers, statusColourOf, truncateToMinute } from './format-cell.ts'

/** How a terminal shows a column of a list. */
type TextColumn = {
  /** A shorter name than that of the field. */
  readonly header?: string
  /** `right` for numbers whose form does not show that they are numbers, `left` for numbers that name something. */
  readonly align?: 'left' | 'right'
  /** Where not all columns fit, the lowest numbers stay, and columns without one go first. */
  readonly priority?: number
  /** Whether its text is wrapped, not shortened. */
  readonly isWrapped?: true
}

export type TextColumns = Readonly<Record<string, TextColumn>>

/** Where a table is shown. An unlimited width shows every column in full. */
export type Terminal = { readonly stream: NodeJS.WriteStream; readonly width: number }

type TextRow = Readonly<Record<string, unknown>>

type PreparedColumn = {
  readonly name: string
  readonly header: string
  readonly cells: readonly string[]
  readonly isRightAligned: boolean
  readonly priority: number
  readonly isWrapped: boolean
  readonly width: number
  /** What it can be shortened to. */
  readonly minWidth: number
}

const columnGap = '  '
const minTextWidth = 12
const minProseWidth = 24

/** A table with a line for each row; on a terminal it fits the width, elsewhere it has all columns and values as they are. */
export function formatTable(
  rows: readonly TextRow[],
  { indent, columns, terminal }: { indent: string; columns: TextColumns; terminal: Terminal | undefined },
): string {
  const names = Object.keys(rows[0] ?? {})
  if (names.length === 0) return `${indent}(none)\n`
  if (terminal === undefined) {
    const plain = names.map((name) =>
      prepareColumn(name, { header: name, cells: rows.map((row) => formatCell(row[name])) }),
    )
    return renderColumns(plain, { indent, style: (_, text) => text })
  }
  const { stream, width } = terminal
  const all = names.map((name) =>
    prepareForTerminal(name, rows, { column: columns[name] ?? {}, isWide: width === Infinity }),
  )
  const fitting = fitColumns(all, width - indent.length)
  const style = (name: string, text: string, isHeader: boolean) => {
    const format = isHeader ? 'bold' : statusColourOf(name, text)
    return format === undefined ? text : styleText(format, text, { stream })
  }
  const hidden = all.filter(({ name }) => !fitting.some((each) => each.name === name)).map(({ name }) => name)
  const text = renderColumns(fitting, { indent, style })
  if (hidden.length === 0) return text
  const note = wrapText(`Not shown without --wide: ${hidden.join(', ')}`, width - indent.length)
  return `${text}${note.map((line) => `${indent}${styleText('dim', line, { stream })}\n`).join('')}`
}

function prepareForTerminal(
  name: string,
  rows: readonly TextRow[],
  { column, isWide }: { column: TextColumn; isWide: boolean },
): PreparedColumn {
  const { header = name, align, priority = Number.MAX_SAFE_INTEGER, isWrapped: wraps = false } = column
  const values = rows.map((row) => row[name])
  const isRight = align === undefined ? areNumbers(values) : align === 'right'
  const texts = isRight ? formatNumbers(values) : values.map(formatCell)
  const cells = isWide ? texts : texts.map(truncateToMinute)
  return prepareColumn(name, { header, cells, isRightAligned: isRight, priority, isWrapped: wraps && !isWide })
}

function prepareColumn(
  name: string,
  {
    header,
    cells,
    isRightAligned: isRight = false,
    priority = 0,
    isWrapped: wraps = false,
  }: { header: string; cells: readonly string[] } & Partial<PreparedColumn>,
): PreparedColumn {
  const width = Math.max(...[header, ...cells].map((text) => stringWidth(text)))
  const isWhole = isRight || cells.every((text) => idOrTimePattern.test(text) || stringWidth(text) <= minTextWidth + 4)
  const minWidth = isWhole ? width : Math.min(width, wraps ? minProseWidth : minTextWidth)
  return { name, header, cells, isRightAligned: isRight, priority, isWrapped: wraps, width, minWidth }
}

/** Ids and times say nothing when they are shortened. */
const idOrTimePattern = /^([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\d \d\d:\d\dZ|-)$/

/** The most important columns that fit, in their order; what then is left widens those that were shortened. */
function fitColumns(columns: readonly PreparedColumn[], width: number): PreparedColumn[] {
  let left = width + columnGap.length
  const chosen = new Map<PreparedColumn, number>()
  const byPriority = columns.toSorted((one, other) => one.priority - other.priority)
  for (const column of byPriority) {
    const needed = column.minWidth + columnGap.length
    if (chosen.size > 0 && needed > left) continue
    chosen.set(column, Math.min(column.minWidth, width))
    left -= needed
  }
  for (const column of byPriority) {
    const at = chosen.get(column)
    if (at === undefined) continue
    const more = Math.max(0, Math.min(column.width - at, left))
    chosen.set(column, at + more)
    left -= more
  }
  return columns.flatMap((column) => {
    const at = chosen.get(column)
    return at === undefined ? [] : [{ ...column, width: at }]
  })
}

type CellStyle = (name: string, text: string, isHeader: boolean) => string

function renderColumns(
  columns: readonly PreparedColumn[],
  { indent, style }: { indent: string; style: CellStyle },
): string {
  const count = columns[0]?.cells.length ?? 0
  const rows = Array.from({ length: count }, (_, place) => columns.flatMap(({ cells }) => cells[place] ?? ''))
  const lines = [columns.map(({ header }) => header), ...rows].flatMap((row, place) => {
    const parts = columns.map(({ isWrapped: wraps, width }, at) =>
      wraps ? wrapText(row[at] ?? '', width) : [truncate(row[at] ?? '', width)],
    )
    const height = Math.max(...parts.map((part) => part.length))
    return Array.from({ length: height }, (_, line) =>
      columns
        .map(({ name, width, isRightAligned: isRight }, at) => {
          const text = parts[at]?.[line] ?? ''
          const padding = ' '.repeat(Math.max(0, width - stringWidth(text)))
          const styled = text === '' ? '' : style(name, text, place === 0)
          return isRight ? padding + styled : styled + padding
        })
        .join(columnGap),
    )
  })
  return lines
    .map((line) => `${indent}${line}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}

const graphemes = new Intl.Segmenter()

function truncate(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  let kept = ''
  for (const { segment } of graphemes.segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

const helpWrapper = Object.assign(new Help(), { minWidthToWrap: 1, displayWidth: (text: string) => stringWidth(text) })

function wrapText(text: string, width: number): string[] {
  return Number.isFinite(width) ? helpWrapper.boxWrap(text, width).split('\n') : [text]
}
