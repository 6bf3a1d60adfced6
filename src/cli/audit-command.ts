import { open, readFile, writeFile } from 'node:fs/promises'
import { invalidInput } from '../core/errors.ts'
import { visitDatabase } from '../database/open-database.ts'
import type { Audit } from '../modules/audit/audit.ts'
import { audit } from '../modules/audit/audit.ts'
import { auditChain } from '../modules/audit/audit-chain.ts'
import type { MerchantHead } from '../modules/hash-chain/chain-heads.ts'
import { findHeads, headsIn, textOfHeads } from '../modules/hash-chain/chain-heads.ts'
import type { Service } from '../operations/context.ts'
import type { Command, Going, Options } from './command.ts'

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
    check: { priority: 1, wraps: true },
    contradictions: { priority: 2 },
    examples: { priority: 3, wraps: true },
  },
  run: runAudit,
  hasFailed: (result) => !(result as Audit).balanced,
}

async function runAudit(service: Service, _: readonly string[], options: Options, going: Going): Promise<object> {
  const { chain, heads: kept, 'keep-heads': keptIn } = options
  const onProgress = going.progress.show
  if (chain === undefined) {
    if ((kept ?? keptIn) === undefined) return audit(service, onProgress)
    throw invalidInput([{ field: '--chain', code: 'MISSING_REQUIRED_FIELD', message: 'is required beside it' }])
  }
  const asked = { kept: kept === undefined ? [] : await keptHeads(kept) }
  const { chain: found, ...result } = await auditChain(service, asked, onProgress)
  const { heads, ...shown } = found
  if (keptIn === undefined) return { ...result, chain: shown }
  // What differs must not become what is compared with.
  const isKept = result.balanced
  if (isKept) await writeFile(keptIn, textOfHeads(heads), { flag: 'wx' })
  return { ...result, chain: { ...shown, isKept } }
}

/** The heads in a file that the command has written, or those of a backup as it is. */
async function keptHeads(path: string): Promise<readonly MerchantHead[]> {
  if (!(await isSqlite(path))) return headsIn(await readFile(path, 'utf8'))
  const { db, state, close } = await visitDatabase(`sqlite:${path}`)
  try {
    if (state.coming.length === 0) return await findHeads(db)
    throw new Error(`${path} is of a version before, in another form: only one of this version can be compared with.`)
  } finally {
    await close()
  }
}

async function isSqlite(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.toString('latin1') === 'SQLite format 3\0'
  } finally {
    await file.close()
  }
}
