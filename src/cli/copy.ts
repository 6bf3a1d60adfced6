import { existsSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import { copyDatabase, inspectDatabase, openDatabase } from '../app/open-database.ts'
import { invalidInput } from '../core/errors.ts'
import { createUuidV7Generator, systemTimestamp } from '../core/ids-and-clock.ts'
import { cliCommand } from '../core/package.ts'
import type { Database } from '../database/database.ts'
import { databaseName, sqlitePathOf } from '../database/engines.ts'
import { auditBooks, auditChain, describeFailedChecks } from '../modules/audit/audit.ts'
import { findChainHeads, formatHeads } from '../modules/hash-chain/verify-chain.ts'
import { findMode } from '../modules/installation/installation.ts'
import { parseReason, recordAction } from '../modules/operators/record-action.ts'
import type { Mode } from '../operations/context.ts'
import { createService } from '../operations/context.ts'
import type { Command, CommandRuntime, OptionValues } from './command.ts'
import { currentActor, wordAt } from './command.ts'
import type { Progress } from './output.ts'

export const copyCommand: Command = {
  changes: 'ownActions',
  summary:
    'Copy the database from SQLite to PostgreSQL, or back. Rejects writes meanwhile, compares every row and audits both databases. Afterwards the source is marked as moved. Run it again to continue an interrupted copy.',
  words: ['target database url'],
  options: { reason: 'text' },
  columns: {
    table: { priority: 1 },
    rows: { priority: 1 },
    checksum: { priority: 2 },
  },
  runStandalone: copy,
}

type CopyAudit = { readonly unchecked: readonly string[]; readonly chainHeads: number }

async function copy(
  config: Config,
  words: readonly string[],
  { reason: typedReason }: OptionValues,
  { progress }: Pick<CommandRuntime, 'progress'>,
): Promise<object> {
  const { databaseUrl: source } = config
  const target = wordAt(words, 0)
  const reason = typedReason === undefined || typedReason.trim() === '' ? null : parseReason(typedReason)
  const mode = await requireSourceMode(config, target)
  let audit: CopyAudit = { unchecked: [], chainHeads: 0 }
  const copied = await copyDatabase({
    ...{ source, target, copyId: createUuidV7Generator()(Date.now()), now: systemTimestamp, onProgress: progress.show },
    mustBeDurable: mode === 'live',
    onBegin: () => logCopy(source, { mode, target, reason }),
    inspect: async () => {
      audit = await auditBoth({ source, target, mode, progress })
    },
  })
  return {
    ...copied,
    tables: copied.tables.map(({ difference, ...table }) => table),
    ...(!copied.wasComplete && audit),
    next: nextSteps(config, mode, copied.target),
  }
}

/** @throws Error if the source has no mode, or if the schema is not the schema of this version */
async function requireSourceMode({ databaseUrl, isModeGiven, mode }: Config, target: string): Promise<Mode> {
  if (!/^(sqlite:|postgres(ql)?:\/\/)./.test(target)) {
    const message = 'must be sqlite:<path> or postgres://…'
    throw invalidInput([{ field: 'targetDatabaseUrl', code: 'INVALID_FORMAT', message }])
  }
  const { db, state, close } = await inspectDatabase(databaseUrl)
  try {
    if (state.unknownMigration !== undefined || state.pendingMigrations.length > 0) {
      throw new Error(
        `The database has the schema of another version. Run \`${cliCommand} migrate\` of this version first.`,
      )
    }
    const storedMode = await findMode(db)
    if (storedMode === null) throw new Error('The database is new, so there is nothing to copy.')
    if (!isModeGiven || storedMode === mode) return storedMode
    throw new Error(`The database is of MODE=${storedMode}, not ${mode}: set MODE=${storedMode}.`)
  } finally {
    await close()
  }
}

/**
 * The copy is added to the operator log before the source is blocked, so that the target database also gets the row.
 */
async function logCopy(
  url: string,
  { mode, target, reason }: { readonly mode: Mode; readonly target: string; readonly reason: string | null },
): Promise<void> {
  await withDatabase(url, async (db) => {
    const row = {
      ...currentActor('command'),
      action: 'copy',
      subject: databaseName(target),
      reason,
      details: {},
      formId: null,
    }
    await recordAction(createService({ db, mode }), row, (service) => service.db.write(() => undefined))
  })
}

function nextSteps({ databaseUrl, secretsKeys }: Config, mode: Mode, target: string): readonly string[] {
  const path = sqlitePathOf(databaseUrl)
  const keyFile = `${path}.secrets-key`
  const isKeyInFile = secretsKeys.length === 0 && mode === 'sandbox' && path !== null && existsSync(keyFile)
  return [
    ...(isKeyInFile ? [`Set SECRETS_KEY to the contents of ${keyFile}, which decrypt the secrets of webhooks.`] : []),
    `Set DATABASE_URL to ${target}${sqlitePathOf(target) === null ? ', with its user and password' : ''}, and restart the service.`,
  ]
}

type AuditedPair = {
  readonly source: string
  readonly target: string
  readonly mode: Mode
  readonly progress: Progress
}

/** @throws Error if the books or seals of a database are inconsistent, or if the latest seals differ */
async function auditBoth({ source, target, mode, progress }: AuditedPair): Promise<CopyAudit> {
  const [from, to] = [await auditOne(source, mode, progress), await auditOne(target, mode, progress)]
  if (from.heads !== to.heads) throw new Error('The latest seals of source and target differ.')
  return { unchecked: [...from.unchecked, ...to.unchecked], chainHeads: from.count }
}

function auditOne(url: string, mode: Mode, progress: Progress) {
  return withDatabase(url, async (db) => {
    const service = createService({ db, mode })
    const books = await auditBooks(service, progress.show)
    const history = await auditChain(service, {}, progress.show)
    const failedChecks = describeFailedChecks([...books.findings, ...history.findings])
    if (failedChecks !== null) throw new Error(`The books of ${databaseName(url)} failed the audit: ${failedChecks}.`)
    const heads = await findChainHeads(db)
    return {
      heads: formatHeads(heads),
      count: heads.length,
      unchecked: books.unchecked === null ? [] : [books.unchecked],
    }
  })
}

async function withDatabase<Result>(url: string, run: (db: Database) => Promise<Result>): Promise<Result> {
  const db = await openDatabase({
    url,
    mustExist: true,
    onFatal: (error) => {
      throw error
    },
  })
  try {
    return await run(db)
  } finally {
    await db.close()
  }
}
