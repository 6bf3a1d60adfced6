/** Counts the rows of each table in the text that `pg_restore` makes of a copy, part by part. */
export type RowCounter = { readonly read: (bytes: Buffer) => void; readonly rows: () => ReadonlyMap<string, number> }

const newline = 10
const copyLinePattern = /^COPY (.+?) (\(.*\) )?FROM stdin;$/

/** A line outside of a table's rows is at most this long: what follows can't begin the rows of a table. */
const maxLineBytes = 1024 * 1024

/** Each row is a line, because a line break within a value is written as `\n`; `\.` ends the rows of a table. */
export function rowCounter(): RowCounter {
  const rows = new Map<string, number>()
  let table: string | null = null
  let line = ''

  function endLine(text: string): void {
    if (table === null) {
      table = copyLinePattern.exec(text)?.[1] ?? null
      if (table !== null) rows.set(table, 0)
    } else if (text === '\\.') table = null
    else rows.set(table, (rows.get(table) ?? 0) + 1)
  }

  /** Within rows only the shortest line says anything, so of the others nothing is kept. */
  function appendToLine(part: Buffer): void {
    const most = table === null ? maxLineBytes : 3
    if (line.length < most) line += part.toString('latin1', 0, most)
  }

  return {
    rows: () => rows,
    read: (bytes) => {
      let start = 0
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
        appendToLine(bytes.subarray(start, end))
        endLine(line)
        line = ''
        start = end + 1
      }
      appendToLine(bytes.subarray(start))
    },
  }
}
