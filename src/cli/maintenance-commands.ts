import { open, readFile, writeFile } from 'node:fs/promises'
import type { Config } from '../app/config.ts'
import { diagnose } from '../app/doctor/doctor.ts'
import { effectiveVariables } from '../app/effective-variables.ts'
import { inspectDatabase, openDatabase, restoreDatabase } from '../app/open-database.ts'
import { invalidInput } from '../core/errors.ts'
import type { AuditResult } from '../modules/audit/audit.ts'
import { auditBooks, auditChain, describeFailedChecks } from '../modules/audit/audit.ts'
import type { Diagnosis } from '../modules/diagnoses/diagnosis.ts'
import { formatNames } from '../modules/diagnoses/diagnosis.ts'
import type { MerchantChainHead } from '../modules/hash-chain/verify-chain.ts'
import { findChainHeads, formatHeads, parseHeads } from '../modules/hash-chain/verify-chain.ts'
import { findMode } from '../modules/installation/installation.ts'
import { parseReason, recordAction } from '../modules/operators/record-action.ts'
import { rebuildStatistics } from '../modules/payout-statistics/rebuild-statistics.ts'
import type { Service } from '../operations/context.ts'
import { createService } from '../operations/context.ts'
import type { Command, CommandRuntime, CommandTable, OptionValues } from './command.ts'
import { currentActor, wordAt } from './command.ts'
import type { Progress } from './output.ts'

export const auditCommand: Command = {
  changes: 'nothing',
  summary:
    'Recompute the books. With --chain, verifies the history against its seals instead. Fails if it finds a contradiction.',
  options: {
    heads: ['file', 'with --chain: also compare the seals with a file of an earlier --keep-heads, or with a backup'],
    'keep-heads': ['file', 'with --chain: write the latest seals to this new file'],
  },
  flags: { chain: 'verify the history against its seals' },
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
  { progress }: CommandRuntime,
): Promise<object> {
  const { chain: isOfChain, heads: headsFile, 'keep-heads': newHeadsFile } = options
  if (isOfChain === undefined) {
    if ((headsFile ?? newHeadsFile) === undefined) return auditBooks(service, progress.show)
    const message = 'is required with --heads and --keep-heads'
    throw invalidInput([{ field: '--chain', code: 'MISSING_REQUIRED_FIELD', message }])
  }
  const earlierHeads = headsFile === undefined ? [] : await readChainHeads(headsFile)
  const { chain, ...result } = await auditChain(service, { kept: earlierHeads }, progress.show)
  const { heads, ...summary } = chain
  if (newHeadsFile === undefined) return { ...result, chain: summary }
  // Later audits must not be compared with the chain heads of a failed audit.
  const isKept = result.balanced
  if (isKept) await writeFile(newHeadsFile, formatHeads(heads), { flag: 'wx' })
  return { ...result, chain: { ...summary, isKept } }
}

/** Reads chain heads from a file of `--keep-heads` or from a SQLite backup. */
async function readChainHeads(path: string): Promise<readonly MerchantChainHead[]> {
  if (!(await isSqliteFile(path))) return parseHeads(await readFile(path, 'utf8'))
  const { db, state, close } = await inspectDatabase(`sqlite:${path}`)
  try {
    if (state.pendingMigrations.length === 0) return await findChainHeads(db)
    throw new Error(`${path} has the schema of an earlier version. Compare with a backup of this version.`)
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

export const maintenanceCommands: CommandTable = {
  config: {
    changes: 'nothing',
    summary:
      'Show the current configuration. Lists every variable with its value and source: the environment, the file .env, or the default. Secrets are masked.',
    columns: {
      name: { header: 'variable', priority: 1 },
      value: { priority: 2, align: 'left' },
      source: { priority: 3 },
    },
    runStandalone: async (config, _, __, { environment }) => effectiveVariables(config, environment),
  },
  'statistics rebuild': {
    changes: { subject: () => 'statistics' },
    summary:
      'Count the payout statistics and daily balances of the console again from the events. The server may keep running. Run it if the audit finds them wrong.',
    run: (service, _words, _options, { progress }) =>
      rebuildStatistics(service, (done, total) => progress.show('events', done, total)),
  },
  backup: {
    changes: 'nothing',
    summary: 'Copy the database to a new file. The copy is a consistent snapshot, and the server may keep running.',
    words: ['file'],
    run: async ({ db }, words, _, { progress }) => {
      const file = wordAt(words, 0)
      await db.backup(file, progress.show)
      return { file }
    },
  },
  restore: {
    changes: 'ownActions',
    summary:
      'Restore a backup. Audits a copy of it first. PostgreSQL requires an empty database. Stop the service before.',
    words: ['backup'],
    options: { reason: 'text' },
    flags: { replace: 'replace the database, which is kept under a dated name' },
    runStandalone: restore,
  },
  doctor: {
    changes: 'nothing',
    summary:
      'Diagnose this installation. Reports what is wrong and what to do about it. Changes nothing, and fails on any fault.',
    columns: {
      check: { priority: 1 },
      state: { priority: 2 },
      message: { priority: 3, isWrapped: true },
      advice: { priority: 4, isWrapped: true },
    },
    runStandalone: (config) => diagnose(config, Date.now()),
    hasFailed: (result) => (result as readonly Diagnosis[]).some(({ state }) => state === 'fault'),
  },
  migrate: {
    changes: 'nothing',
    databaseCreation: 'inAnyMode',
    summary:
      'Migrate the database to the latest schema. Every start does so too. Creates the database if it does not exist.',
    options: { backup: ['file', 'copy the database to this new file before'] },
    canBackUpFirst: true,
    // Opening the database has already migrated the database, so `run` does nothing.
    run: async () => ({ migrated: true }),
  },
}

async function restore(
  config: Config,
  words: readonly string[],
  { replace, reason: typedReason }: OptionValues,
  { progress }: Pick<CommandRuntime, 'progress'>,
): Promise<object> {
  const backup = wordAt(words, 0)
  const reason = typedReason === undefined || typedReason.trim() === '' ? null : parseReason(typedReason)
  return restoreDatabase({
    ...{ url: config.databaseUrl, backup, canReplace: replace !== undefined, now: Date.now() },
    onProgress: progress.show,
    inspect: (url) => requireConsistentBackup({ url, backup, reason, mode: config.mode, progress }),
  })
}

type BackupInspection = Pick<Config, 'mode'> & {
  readonly url: string
  readonly backup: string
  readonly reason: string | null
  readonly progress: Progress
}

/**
 * Migrates and audits a copy of the backup. The copy becomes the database. The restore is added to the operator log of
 * the copy.
 */
async function requireConsistentBackup({ url, backup, reason, mode, progress }: BackupInspection): Promise<void> {
  const fail = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url, mustExist: true, onFatal: fail, onMigrating: progress.show })
  try {
    const backupMode = await findMode(db)
    if (backupMode !== null && backupMode !== mode) {
      throw new Error(
        `${backup} is of MODE=${backupMode}, not ${mode}: set MODE=${backupMode}, and DATABASE_URL to where it belongs.`,
      )
    }
    const { differences, unchecked } = await db.checkSchema()
    if (unchecked !== null) throw new Error(`${backup} was not restored. Not compared: ${unchecked}.`)
    if (differences.length > 0) {
      throw new Error(`The schema of ${backup} is not that of this version: ${formatNames(differences)}.`)
    }
    const service = createService({ db, mode })
    const books = await auditBooks(service, progress.show)
    const history = await auditChain(service, {}, progress.show)
    const failedChecks = describeFailedChecks([...books.findings, ...history.findings])
    if (failedChecks !== null) throw new Error(`The books of ${backup} failed the audit: ${failedChecks}.`)
    return await logRestore(service, { backup, reason })
  } finally {
    await db.close()
  }
}

function logRestore(service: Service, { backup, reason }: { backup: string; reason: string | null }): Promise<void> {
  const action = {
    ...currentActor('command'),
    action: 'restore',
    subject: backup,
    reason,
    details: {},
    formId: null,
  }
  return recordAction(service, action, ({ db }) => db.write(() => undefined))
}
