import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Change } from './changed-source.ts'

/** How a command ended, and its maximum memory in megabytes. */
export type Exported = { readonly code: number | null; readonly errors: string; readonly peakMb: number }

/** A heap that a leak of each line would fill long before a million lines, ending the process. */
const smallHeap = ['--max-old-space-size=64', '--max-semi-space-size=4']

/** Runs `export` with these arguments in a separate process. */
export async function runExport(
  url: string,
  words: readonly string[],
  changes: readonly Change[] = [],
): Promise<Exported> {
  const changing = changes.length === 0 ? [] : ['--import', join(import.meta.dirname, 'change-main.ts')]
  const program = join(import.meta.dirname, '../../src/cli/cli.ts')
  const child = spawn(process.execPath, [...smallHeap, ...changing, program, 'export', ...words], {
    env: { ...process.env, DATABASE_URL: url, CHANGES: JSON.stringify(changes) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors = (errors + chunk).slice(-2_000)
  })
  let peakMb = 0
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child))
  }, 20)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearInterval(watch)
  return { code, errors, peakMb }
}

/** The peak memory of a process so far in megabytes; 0 where the system does not report it. */
function peakOf({ pid }: ChildProcess): number {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes ?? 0) / 1024
  } catch {
    return 0
  }
}

/** The sums of a JSON Lines file of payouts, computed without the service's code. */
export type ExportTotals = { readonly lines: number; readonly faults: readonly string[] }

/** Sums a file: for each merchant and asset the lines must lead from the opening to the closing balance exactly. */
export async function sumExport(file: string): Promise<ExportTotals> {
  const faults: string[] = []
  const held = new Map<string, bigint>()
  const closed = new Set<string>()
  let lines = 0
  let end: number | null = null
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { type, merchant_id, asset_code, total, running_total, number } = JSON.parse(line)
    const account = `${merchant_id} ${asset_code}`
    if (type === 'OPENING') held.set(account, unitsOf(running_total))
    else if (type === 'PAYOUT') {
      lines++
      const sum = (held.get(account) ?? 0n) + unitsOf(total)
      held.set(account, sum)
      if (sum !== unitsOf(running_total)) faults.push(`line ${lines} of ${account} adds up to ${sum}`)
    } else if (type === 'CLOSING') {
      closed.add(account)
      if (held.get(account) !== unitsOf(running_total)) faults.push(`${account} adds up to ${held.get(account)} units`)
    } else end = number
  }
  if (end !== lines) faults.push(`there are ${lines} lines, but the end line says ${end}`)
  if (closed.size !== held.size) faults.push(`${held.size} balances were opened and ${closed.size} closed`)
  return { lines, faults: faults.slice(0, 5) }
}

function unitsOf(text: string): bigint {
  return BigInt(text.replace('.', ''))
}

/** Compares Python's CSV reader with its JSON reader, cell by cell, after removing our escape apostrophe. */
const comparison = `
import csv, json, re, sys
guarded = re.compile("[\\\\s'\\"]*[=+\\\\-@]")
rows = 0
with open(sys.argv[1], newline='', encoding='utf-8') as table, open(sys.argv[2], encoding='utf-8') as lines:
    for row, line in zip(csv.DictReader(table, strict=True), lines, strict=True):
        record = json.loads(line)
        for name, cell in row.items():
            expected = record.get(name)
            text = '' if expected is None else str(expected)
            # Between the two exports the period may have become final.
            if name == 'type': cell, text = cell.split('_NOT')[0], text.split('_NOT')[0]
            if cell[:1] in '=+@' and cell: sys.exit('row %d begins a formula: %s' % (rows, cell))
            if cell.startswith("'") and guarded.match(cell[1:]): cell = cell[1:]
            if cell != text: sys.exit('row %d, %s: %r is not %r' % (rows, name, cell, text))
        rows += 1
print(rows)
`

/** Reads both formats of an export in Python; returns differences, or that Python is missing. */
export async function comparedByPython(csv: string, ndjson: string): Promise<{ figure: string; faults: string[] }> {
  try {
    const { stdout } = await promisify(execFile)('python3', ['-c', comparison, csv, ndjson])
    return { figure: `python3 read ${Number(stdout).toLocaleString('en')} equal records from both formats`, faults: [] }
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT') return { figure: 'python3 is not installed, so the CSV was not read', faults: [] }
    return { figure: 'python3 found a difference', faults: [stderr.trim().split('\n').at(-1) ?? ''] }
  }
}

/** Files that a failed export left behind. */
export function leftoverFiles(file: string): string[] {
  return [file, `${file}.part`].filter((each) => existsSync(each))
}
