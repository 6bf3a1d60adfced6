import type { Config } from '../app/config.ts'
import { openDatabase, restoreDatabase } from '../app/open-database.ts'
import { auditBooks } from '../modules/audit/audit.ts'
import { auditChain } from '../modules/audit/audit-chain.ts'
import { formatNames } from '../modules/diagnoses/diagnosis.ts'
import { findMode } from '../modules/installation/find-mode.ts'
import { parseReason, recordAction } from '../modules/operators/record-action.ts'
import type { Service } from '../operations/context.ts'
import { createService } from '../operations/context.ts'
import type { Command, CommandRuntime, OptionValues } from './command.ts'
import { wordAt } from './command.ts'
import { currentOperator } from './operator.ts'
import type { Progress } from './progress.ts'

/** What puts a backup back. */
export const restoreCommand: Command = {
  changes: 'ownActions',
  summary:
    'Restore a backup. Audits a copy of it first. PostgreSQL requires an empty database. Stop the service before.',
  words: ['backup'],
  options: { reason: 'text' },
  flags: { replace: 'replace the database, which is kept under a dated name' },
  runApart: restore,
}

async function restore(
  config: Config,
  words: readonly string[],
  { replace, reason }: OptionValues,
  { progress }: Pick<CommandRuntime, 'progress'>,
): Promise<object> {
  const backup = wordAt(words, 0)
  const why = reason === undefined || reason.trim() === '' ? null : parseReason(reason)
  const { location, previousLocation } = await restoreDatabase({
    ...{ url: config.databaseUrl, backup, canReplace: replace !== undefined, now: Date.now() },
    onProgress: progress.show,
    inspect: (url) => requireConsistentBackup({ url, backup, reason: why, mode: config.mode, progress }),
  })
  return { file: location, kept: previousLocation }
}

type BackupInspection = Pick<Config, 'mode'> & {
  url: string
  backup: string
  reason: string | null
  progress: Progress
}

/**
 * Opens the copy as a start would, which brings it to the latest form, recomputes its books and holds its history against its seals.
 * That it was restored is logged in the copy itself, which is the database from then on.
 */
async function requireConsistentBackup({ url, backup, reason, mode, progress }: BackupInspection): Promise<void> {
  const fail = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url, mustExist: true, onFatal: fail, onMigrating: progress.show })
  try {
    const found = await findMode(db)
    if (found !== null && found !== mode) {
      throw new Error(
        `${backup} is of MODE=${found}, not ${mode}: set MODE=${found}, and DATABASE_URL to where it belongs.`,
      )
    }
    const { differences, unchecked } = await db.checkSchema()
    if (unchecked !== null)
      throw new Error(`${backup} was not restored, because nothing could be said of ${unchecked}.`)
    if (differences.length > 0) {
      throw new Error(`The schema of ${backup} is not that of this version: ${formatNames(differences)}.`)
    }
    const service = createService({ db, mode })
    const books = await auditBooks(service, progress.show)
    const history = await auditChain(service, {}, progress.show)
    if (books.balanced && history.balanced) return await logRestore(service, { backup, reason })
    const findings = [...books.findings, ...history.findings]
    const contradictory = findings.filter(({ contradictions }) => contradictions > 0)
    const told = contradictory.map(({ check, examples }) => `not ${check}, such as ${examples[0]}`)
    throw new Error(`The books of ${backup} contradict themselves: ${told.slice(0, 3).join('; ')}.`)
  } finally {
    await db.close()
  }
}

function logRestore(service: Service, { backup, reason }: { backup: string; reason: string | null }): Promise<void> {
  const action = {
    ...currentOperator('command'),
    action: 'restore',
    subject: backup,
    reason,
    details: {},
    formId: null,
  }
  return recordAction(service, action, ({ db }) => db.write(() => undefined))
}
