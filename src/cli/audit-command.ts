import { open, readFile, writeFile } from 'node:fs/promises'
import { inspectDatabase } from '../app/open-database.ts'
import { invalidInput } from '../core/errors.ts'
import type { AuditResult } from '../modules/audit/audit.ts'
import { auditBooks } from '../modules/audit/audit.ts'
import { auditChain } from '../modules/audit/audit-chain.ts'
import type { MerchantChainHead } from '../modules/hash-chain/chain-heads.ts'
import { findChainHeads, formatHeads, parseHeads } from '../modules/hash-chain/chain-heads.ts'
import type { Service } from '../operations/context.ts'
import type { Command, CommandRuntime, OptionValues } from './command.ts'

/** What recomputes the books, and holds history against its seals. */
export const auditCommand: Command = {
  changes: 'nothing',
  summary:
    'Recompute the books. With --chain it checks the history against its seals instead. Fails when anything contradicts.',
  options: {
    heads: ['file', 'with --chain: also check that the seals agree with this file of --keep-heads, or with a backup'],
    'keep-heads': ['file', 'with --chain: write the latest seals to this new file'],
  },
  flags: { chain: 'check the history against its seals' },
  columns: {
    check: { priority: 1, isWrapped: true },
    contradictions: { priority: 2 },
    examples: { priority: 3, isWrapped: true },
  },
  run: runAudit,
  hasFailed: (result) => !(result as AuditResult).balanced,
}

async function runAudit(
  service: Service,
  _: readonly string[],
  options: OptionValues,
  going: CommandRuntime,
): Promise<object> {
  const { chain, heads: kept, 'keep-heads': keptIn } = options
  const onProgress = going.progress.show
  if (chain === undefined) {
    if ((kept ?? keptIn) === undefined) return auditBooks(service, onProgress)
    throw invalidInput([{ field: '--chain', code: 'MISSING_REQUIRED_FIELD', message: 'is required beside it' }])
  }
  const asked = { kept: kept === undefined ? [] : await readChainHeads(kept) }
  const { chain: found, ...result } = await auditChain(service, asked, onProgress)
  const { heads, ...shown } = found
  if (keptIn === undefined) return { ...result, chain: shown }
  // What differs must not become what is compared with.
  const isKept = result.balanced
  if (isKept) await writeFile(keptIn, formatHeads(heads), { flag: 'wx' })
  return { ...result, chain: { ...shown, isKept } }
}

/** The heads in a file that the command has written, or those of a backup as it is. */
async function readChainHeads(path: string): Promise<readonly MerchantChainHead[]> {
  if (!(await isSqliteFile(path))) return parseHeads(await readFile(path, 'utf8'))
  const { db, state, close } = await inspectDatabase(`sqlite:${path}`)
  try {
    if (state.pendingMigrations.length === 0) return await findChainHeads(db)
    throw new Error(`${path} is of a version before, in another form: only one of this version can be compared with.`)
  } finally {
    await close()
  }
}

async function isSqliteFile(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.toString('latin1') === 'SQLite format 3\0'
  } finally {
    await file.close()
  }
}
