import type { WriteStream } from 'node:tty'
import type { Config } from '../app/config.ts'
import { readConfig } from '../app/config.ts'
import { loadSecrets } from '../app/load-secrets.ts'
import { migrationNotice } from '../app/migration-notice.ts'
import { openDatabase } from '../app/open-database.ts'
import type { FieldNames } from '../core/api/error-message.ts'
import { formatDomainError } from '../core/api/error-message.ts'
import { DomainError, invalidInput } from '../core/errors.ts'
import { formatAmount } from '../core/money/amount.ts'
import { databaseName } from '../database/engines.ts'
import { claimMode } from '../modules/installation/claim-mode.ts'
import { findMode } from '../modules/installation/find-mode.ts'
import { parseReason, readOnlyService, recordAction } from '../modules/operators/record-action.ts'
import type { Service } from '../operations/context.ts'
import { createService } from '../operations/context.ts'
import type { Command, CommandRuntime } from './command.ts'
import { fieldNamesOf } from './command.ts'
import { parseCommandLine } from './command-line.ts'
import { commands } from './commands.ts'
import { escapeControlCharacters } from './format-cell.ts'
import { formatText } from './format-text.ts'
import { currentOperator } from './operator.ts'
import { createOutputWriter } from './output-writer.ts'
import type { ParsedCommandLine } from './program.ts'
import { UsageError } from './program.ts'
import type { Progress } from './progress.ts'
import { createProgress } from './progress.ts'

/** Where a command finds its configuration, unless in the process's environment, and where what it has to say goes. */
export type CliEnvironment = {
  readonly environment?: NodeJS.ProcessEnv
  readonly print: (text: string) => unknown
  readonly printError: (text: string) => unknown
  /** Ends a command that goes on, unless Ctrl-C does. */
  readonly signal?: AbortSignal
  /** The streams behind `print` and `complain`, of which each may be a terminal. */
  readonly streams?: { readonly output: WriteStream; readonly errors: WriteStream }
}

const currentProcess: CliEnvironment = {
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  streams: { output: process.stdout, errors: process.stderr },
}

/**
 * Runs one operator command and answers the exit code: 0 done, 1 refused or failed, 2 not understood.
 *
 * With `--json` everything that it has to say is one JSON value on standard output, or, where it goes on, one on each line.
 */
export async function runCommand(args: readonly string[], around: CliEnvironment = currentProcess): Promise<number> {
  const isJson = args.includes('--json')
  let command: Command | undefined
  try {
    const { output } = around.streams ?? {}
    const columns = output?.isTTY ? output.columns : undefined
    const given = parseCommandLine(commands, args, { isJson, print: around.print, columns })
    if (given === null) return 0
    command = commands[given.name] as Command
    const { result, code } = await executeCommand(command, given, { isJson, around })
    if (command.isLongRunning || result === undefined) return code
    const text = isJson
      ? `${toJson(result)}\n`
      : formatText(JSON.parse(toJson(result)), textLayoutFor(command, given, output))
    around.print(text)
    return code
  } catch (error) {
    return reportFailure(error as Error, { isJson, names: command ? fieldNamesOf(command) : {}, around })
  }
}

/** How a result is shown: on a terminal within its width, elsewhere with every value as it is. */
function textLayoutFor({ columns = {} }: Command, { isWide }: ParsedCommandLine, output: WriteStream | undefined) {
  if (!output?.isTTY) return { columns, terminal: undefined }
  return { columns, terminal: { stream: output, width: isWide ? Infinity : output.columns } }
}

async function executeCommand(
  command: Command,
  given: ParsedCommandLine,
  output: { isJson: boolean; around: CliEnvironment },
): Promise<{ result: unknown; code: number }> {
  const { around } = output
  const config = readConfig(around.environment)
  if ('runApart' in command && !output.isJson) around.printError(`${databaseName(config.databaseUrl)}\n`)
  const progress = createProgress(around.streams?.errors)
  try {
    const result =
      'runApart' in command
        ? await command.runApart(config, given.words, given.options, { progress })
        : await runOnDatabase(command, given, { ...output, config, progress })
    return { result, code: command.hasFailed?.(result) ? 1 : 0 }
  } finally {
    progress.end()
  }
}

type DatabaseRunInput = {
  readonly isJson: boolean
  readonly around: CliEnvironment
  readonly config: Config
  readonly progress: Progress
}

async function runOnDatabase(
  command: Extract<Command, { run: unknown }>,
  given: ParsedCommandLine,
  { isJson, around, config, progress }: DatabaseRunInput,
): Promise<unknown> {
  const { printError: complain } = around
  const { options } = given
  const copy = (command.canBackUpFirst && options.backup) || null
  let isCopied = false
  const db = await openDatabase({
    url: config.databaseUrl,
    // With real money only `migrate` makes a database.
    mustExist:
      command.databaseCreation === undefined || (config.mode === 'live' && command.databaseCreation !== 'inAnyMode'),
    mustBeDurable: config.mode === 'live',
    beforeMigrating: (coming) => {
      complain(`${migrationNotice(coming, copy)}\n`)
      isCopied = copy !== null
      return copy === null ? undefined : coming.backUp(copy)
    },
    onMigrating: progress.show,
    onFatal: (error) => {
      complain(`The outcome of a commit is unknown: ${error.message}\n`)
      process.exit(1)
    },
  })
  // To wait for what happens does not keep a process by itself.
  const staying = setInterval(() => {}, 60_000)
  try {
    // A command works on the database as it is; a MODE that is given must agree.
    const mode = config.isModeGiven ? config.mode : ((await findMode(db)) ?? config.mode)
    const { webhookAllowed } = config
    const service = createService({ db, mode, webhookAllowed, secrets: loadSecrets(config, mode) })
    await claimMode(service)
    if (!isJson) complain(`MODE=${mode}, ${databaseName(config.databaseUrl)}\n`)
    // Where nothing changed, it is copied all the same: it was asked for.
    if (copy !== null && !isCopied) await db.backup(copy)
    const report = (text: string, said: object) =>
      around.print(isJson ? `${toJson(said)}\n` : `${escapeControlCharacters(text)}\n`)
    const signal = around.signal ?? (command.isLongRunning ? abortOnInterrupt() : new AbortController().signal)
    const writeText = createOutputWriter(around.print)
    const write = (text: string) => {
      // A bar between the lines of an export would spoil both.
      if (around.streams?.output.isTTY) progress.end()
      return writeText(text)
    }
    return await runWithOperatorLog(service, command, given, { report, write, signal, rails: config.rails, progress })
  } finally {
    clearInterval(staying)
    await db.close()
  }
}

/** Runs a command with a database that it can change as much as it has said that it does, and no more. */
async function runWithOperatorLog(
  service: Service,
  command: Extract<Command, { run: unknown }>,
  { name, words, options }: ParsedCommandLine,
  going: CommandRuntime,
): Promise<unknown> {
  const { changes, run } = command
  const looking = readOnlyService(service, name)
  if (changes === 'nothing') return run(looking, words, options, going)
  if (changes === 'ownActions') return run(service, words, options, going)
  const subject = 'created' in changes ? changes.created : await changes.subject(words, options, looking)
  if (subject === null) return run(looking, words, options, going)
  const { reason: given = '', ...said } = options
  const reason = given.trim() === '' ? null : parseReason(given)
  if (reason === null && changes.movesMoney && service.mode === 'live') throw missingReasonError()
  // What the subject does not tell.
  const isWordTold = words.length === 1 && typeof subject === 'string'
  const details = { ...said, ...(words.length > 0 && !isWordTold && { words: words.join(' ') }) }
  const kept = { formId: null, ...currentOperator('command'), action: name, subject, reason, details }
  return recordAction(service, kept, (keeping) => run(keeping, words, options, going))
}

function missingReasonError(): DomainError {
  const message = 'is required in live, because this moves money'
  return invalidInput([{ field: '--reason', code: 'MISSING_REQUIRED_FIELD', message }])
}

/** Ctrl-C, of which a terminal tells npm and this process, and npm tells it again; or that nobody reads what is printed. */
function abortOnInterrupt(): AbortSignal {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ending.abort())
  process.stdout.on('error', () => ending.abort())
  return ending.signal
}

type FailureOutput = { readonly isJson: boolean; readonly names: FieldNames; readonly around: CliEnvironment }

function reportFailure(error: Error, { isJson, names, around }: FailureOutput): number {
  const code = error instanceof DomainError ? error.code : error instanceof UsageError ? 'USAGE' : 'FAILED'
  const { message } = error instanceof DomainError ? formatDomainError(error, names) : error
  if (isJson) around.print(`${JSON.stringify({ error: { code, message } })}\n`)
  else around.printError(`${message.split('\n').map(escapeControlCharacters).join('\n')}\n`)
  return error instanceof UsageError ? 2 : 1
}

/** Amounts are the only bigints, and are shown as everywhere: decimal strings of eight places. */
function toJson(result: unknown): string {
  return JSON.stringify(result, (_, value: unknown) => (typeof value === 'bigint' ? formatAmount(value) : value))
}
