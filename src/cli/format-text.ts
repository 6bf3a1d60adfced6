import { styleText } from 'node:util'
import { escapeControlCharacters, formatCell, statusColourOf } from './format-cell.ts'
import type { Terminal, TextColumns } from './table.ts'
import { formatTable } from './table.ts'

/** How a result is shown: the columns that its lists have, and the terminal, if it goes to one. */
type TextLayout = { readonly columns: TextColumns; readonly terminal: Terminal | undefined }

type TextRecord = Readonly<Record<string, unknown>>

/** A command's result for people: a table for a list of things, else a line for each field. */
export function formatText(result: unknown, view: TextLayout): string {
  if (Array.isArray(result)) return formatTable(result as TextRecord[], { ...view, indent: '' })
  if (typeof result !== 'object' || result === null) return `${escapeControlCharacters(String(result))}\n`
  return formatRecord(result as TextRecord, view)
}

function formatRecord(record: TextRecord, view: TextLayout, indent = ''): string {
  const { terminal } = view
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  return Object.entries(record)
    .map(([name, value]) => {
      if (isRecordList(value)) return `${indent}${name}\n${formatTable(value, { ...view, indent: `${indent}  ` })}`
      if (isRecord(value)) return `${indent}${name}\n${formatRecord(value, view, `${indent}  `)}`
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
