/** A command's result for people: a table for a list of things, else a line for each field. */
export function asText(result: unknown): string {
  if (Array.isArray(result)) return table(result as Record<string, unknown>[])
  if (typeof result !== 'object' || result === null) return `${String(result)}\n`
  return lines(result as Record<string, unknown>)
}

function lines(record: Record<string, unknown>, indent = ''): string {
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  return Object.entries(record)
    .map(([name, value]) => {
      if (!isNested(value)) return `${indent}${name.padEnd(width)}  ${cell(value)}\n`
      const inner = Array.isArray(value)
        ? table(value as Record<string, unknown>[], `${indent}  `)
        : lines(value, `${indent}  `)
      return `${indent}${name}\n${inner}`
    })
    .join('')
}

function table(rows: readonly Record<string, unknown>[], indent = ''): string {
  const [first] = rows
  if (first === undefined) return `${indent}(none)\n`
  const columns = Object.keys(first).map((name) => ({
    name,
    width: Math.max(name.length, ...rows.map((row) => cell(row[name]).length)),
  }))
  const line = (text: (name: string) => string) =>
    `${indent}${columns.map(({ name, width }) => text(name).padEnd(width)).join('  ')}`.trimEnd()
  return `${[line((name) => name), ...rows.map((row) => line((name) => cell(row[name])))].join('\n')}\n`
}

function isNested(value: unknown): value is Record<string, unknown> {
  return Array.isArray(value)
    ? value.length > 0 && value.every((item) => typeof item === 'object' && item !== null)
    : typeof value === 'object' && value !== null
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (!Array.isArray(value)) return String(value)
  return value.length === 0 ? '(none)' : value.join(', ')
}
