import { styleText } from 'node:util'
import { cell, colourOf, visible } from './cell.ts'
import type { Columns, Terminal } from './table.ts'
import { table } from './table.ts'

/** How a result is shown: the columns that its lists have, and the terminal, if it goes to one. */
type View = { readonly columns: Columns; readonly terminal: Terminal | undefined }

type Row = Readonly<Record<string, unknown>>

/** A command's result for people: a table for a list of things, else a line for each field. */
export function asText(result: unknown, view: View): string {
  if (Array.isArray(result)) return table(result as Row[], { ...view, indent: '' })
  if (typeof result !== 'object' || result === null) return `${visible(String(result))}\n`
  return lines(result as Row, view)
}

function lines(record: Row, view: View, indent = ''): string {
  const { terminal } = view
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  return Object.entries(record)
    .map(([name, value]) => {
      if (isTable(value)) return `${indent}${name}\n${table(value, { ...view, indent: `${indent}  ` })}`
      if (isRecord(value)) return `${indent}${name}\n${lines(value, view, `${indent}  `)}`
      const text = cell(value)
      const colour = terminal && colourOf(name, text)
      return `${indent}${name.padEnd(width)}  ${colour ? styleText(colour, text, { stream: terminal.stream }) : text}\n`
    })
    .join('')
}

function isTable(value: unknown): value is Row[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord)
}

function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
