import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How the disk fails; see shim.c. */
export type Failure = { readonly at: number; readonly how: 'error' | 'half' | 'short' }

/** The shim's configuration; `log` is the file for its records. */
export type ShimOptions = {
  readonly database: string
  readonly log?: string
  readonly failure?: Failure
  /** While a file of this name exists, the database can't grow. */
  readonly full?: string
}

/** The environment variables that preload the shim into a process. */
export type ShimEnvironment = (options: ShimOptions) => Record<string, string>

/**
 * Compiles the shim into `folder`.
 *
 * @throws Error if there is no C compiler, or the system is not Linux
 */
export function buildShim(folder: string): ShimEnvironment {
  if (process.platform !== 'linux') throw new Error('this proof needs Linux: its shim overrides the C library')
  const library = join(folder, 'shim.so')
  const source = join(import.meta.dirname, 'shim.c')
  const { error, status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'])
  if (error) throw new Error('this proof needs a C compiler: cc is not installed')
  if (status !== 0) throw new Error(`the shim does not compile: ${stderr}`)
  return ({ database, log, failure, full }) => ({
    LD_PRELOAD: library,
    SHIM_DATABASE: database,
    ...(log !== undefined && { SHIM_LOG: log }),
    ...(full !== undefined && { SHIM_FULL: full }),
    ...(failure && { SHIM_FAIL_AT: String(failure.at), SHIM_FAIL_HOW: failure.how }),
  })
}

/** Kinds of records, by their number in shim.c. */
export const operations = ['', 'write', 'truncate', 'sync', 'send', 'create', 'unlink', 'fail'] as const
const files = ['', 'main', 'wal', 'journal', 'folder', 'socket'] as const

/** A file's name in the records; `folder` contains the database. */
export type ShimFile = Exclude<(typeof files)[number], ''>

/** One record: `offset` is a truncation's new size, or the number of the operation that failed. */
export type ShimRecord = {
  readonly operation: Exclude<(typeof operations)[number], ''>
  readonly file: ShimFile
  readonly offset: number
  readonly bytes: Buffer
}

/** Returns every record of a log in order. */
export function readRecords(log: string): ShimRecord[] {
  if (!existsSync(log)) throw new Error('the shim has no records: it was not loaded')
  const text = readFileSync(log)
  const records: ShimRecord[] = []
  for (let at = 0; at < text.length; ) {
    const operation = operations[text.readUInt32LE(at)]
    const file = files[text.readUInt32LE(at + 4)]
    const length = Number(text.readBigUInt64LE(at + 16))
    if (!operation || !file) throw new Error(`${log} can't be read at ${at}`)
    const bytes = text.subarray(at + 24, at + 24 + length)
    records.push({ operation, file, offset: Number(text.readBigUInt64LE(at + 8)), bytes })
    at += 24 + length
  }
  return records
}
