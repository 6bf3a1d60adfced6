import { styleText } from 'node:util'
import { Help } from 'commander'
import stringWidth from 'string-width'
import {
  areNumbers,
  escapeControlCharacters,
  formatCell,
  formatNumbers,
  statusColourOf,
  truncateToMinute,
} from './format-cell.ts'

type TextColumn = {
  readonly header?: string
  /** Without `align`, only columns of plain numbers are right-aligned. */
  readonly align?: 'left' | 'right'
  /**
   * If the columns do not fit, the table drops columns without a priority first, then columns with the highest priority
   * number.
   */
  readonly priority?: number
  readonly isWrapped?: true
}

export type TextColumns = Readonly<Record<string, TextColumn>>

/** An infinite width shows every column in full. */
type Terminal = { readonly stream: NodeJS.WriteStream; readonly width: number }

/** If the output is not a terminal, lists have all columns with unchanged values. */
type TextLayout = { readonly columns: TextColumns; readonly terminal: Terminal | undefined }

type TextRecord = Readonly<Record<string, unknown>>

export function formatText(result: unknown, layout: TextLayout): string {
  if (Array.isArray(result)) return formatTable(result as TextRecord[], { ...layout, indent: '' })
  if (typeof result !== 'object' || result === null) return `${escapeControlCharacters(String(result))}\n`
  return formatRecord(result as TextRecord, layout)
}

function formatRecord(record: TextRecord, layout: TextLayout, indent = ''): string {
  const { terminal } = layout
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  return Object.entries(record)
    .map(([name, value]) => {
      if (isRecordList(value)) return `${indent}${name}\n${formatTable(value, { ...layout, indent: `${indent}  ` })}`
      if (isRecord(value)) return `${indent}${name}\n${formatRecord(value, layout, `${indent}  `)}`
      const text = formatCell(value)
      const colour = terminal && statusColourOf(name, text)
      return `${indent}${name.padEnd(width)}  ${colour ? styleText(colour, text, { stream: terminal.stream }) : text}\n`
    })
    .join('')
}

function isRecordList(value: unknown): value is TextRecord[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord)
}

function isRecord(value: unknown): value is TextRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type PreparedColumn = {
  readonly name: string
  readonly header: string
  readonly cells: readonly string[]
  readonly isRightAligned: boolean
  readonly priority: number
  readonly isWrapped: boolean
  readonly width: number
  readonly minWidth: number
}

const columnGap = '  '
const minTextWidth = 12
const minProseWidth = 24

function formatTable(
  rows: readonly TextRecord[],
  { indent, columns, terminal }: TextLayout & { readonly indent: string },
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
  rows: readonly TextRecord[],
  { column, isWide }: { column: TextColumn; isWide: boolean },
): PreparedColumn {
  const { header = name, align, priority = Number.MAX_SAFE_INTEGER, isWrapped = false } = column
  const values = rows.map((row) => row[name])
  const isRightAligned = align === undefined ? areNumbers(values) : align === 'right'
  const texts = isRightAligned ? formatNumbers(values) : values.map(formatCell)
  const cells = isWide ? texts : texts.map(truncateToMinute)
  return prepareColumn(name, { header, cells, isRightAligned, priority, isWrapped: isWrapped && !isWide })
}

function prepareColumn(
  name: string,
  {
    header,
    cells,
    isRightAligned = false,
    priority = 0,
    isWrapped = false,
  }: { header: string; cells: readonly string[] } & Partial<PreparedColumn>,
): PreparedColumn {
  const width = Math.max(...[header, ...cells].map((text) => stringWidth(text)))
  const isWhole =
    isRightAligned || cells.every((text) => idOrTimePattern.test(text) || stringWidth(text) <= minTextWidth + 4)
  const minWidth = isWhole ? width : Math.min(width, isWrapped ? minProseWidth : minTextWidth)
  return { name, header, cells, isRightAligned, priority, isWrapped, width, minWidth }
}

/** A truncated id or time would be useless, so ids and times are never truncated. */
const idOrTimePattern = /^([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\d \d\d:\d\dZ|-)$/

function fitColumns(columns: readonly PreparedColumn[], width: number): PreparedColumn[] {
  let left = width + columnGap.length
  const widths = new Map<PreparedColumn, number>()
  const byPriority = columns.toSorted((one, other) => one.priority - other.priority)
  for (const column of byPriority) {
    const needed = column.minWidth + columnGap.length
    if (widths.size > 0 && needed > left) continue
    widths.set(column, Math.min(column.minWidth, width))
    left -= needed
  }
  for (const column of byPriority) {
    const narrowed = widths.get(column)
    if (narrowed === undefined) continue
    const more = Math.max(0, Math.min(column.width - narrowed, left))
    widths.set(column, narrowed + more)
    left -= more
  }
  return columns.flatMap((column) => {
    const fitted = widths.get(column)
    return fitted === undefined ? [] : [{ ...column, width: fitted }]
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
    const parts = columns.map(({ isWrapped, width }, at) =>
      isWrapped ? wrapText(row[at] ?? '', width) : [truncate(row[at] ?? '', width)],
    )
    const height = Math.max(...parts.map((part) => part.length))
    return Array.from({ length: height }, (_, line) =>
      columns
        .map(({ name, width, isRightAligned }, at) => {
          const text = parts[at]?.[line] ?? ''
          const padding = ' '.repeat(Math.max(0, width - stringWidth(text)))
          const styled = text === '' ? '' : style(name, text, place === 0)
          return isRightAligned ? padding + styled : styled + padding
        })
        .join(columnGap),
    )
  })
  return lines.map((line) => `${`${indent}${line}`.trimEnd()}\n`).join('')
}

const graphemes = new Intl.Segmenter()

function truncate(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  let start = ''
  for (const { segment } of graphemes.segment(text)) {
    if (stringWidth(start + segment) > width - 1) break
    start += segment
  }
  return `${start}…`
}

const helpWrapper = Object.assign(new Help(), { minWidthToWrap: 1, displayWidth: (text: string) => stringWidth(text) })

function wrapText(text: string, width: number): string[] {
  return Number.isFinite(width) ? helpWrapper.boxWrap(text, width).split('\n') : [text]
}
