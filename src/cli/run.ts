import type { WriteStream } from 'node:tty'
import type { Config } from '../app/config.ts'
import { processEnvironment, readConfig } from '../app/config.ts'
import { loadSecrets } from '../app/load-secrets.ts'
import { openDatabase } from '../app/open-database.ts'
import { migrationNotice } from '../app/start.ts'
import type { FieldNames } from '../core/errors.ts'
import { DomainError, formatDomainError, invalidInput } from '../core/errors.ts'
import { formatAmount } from '../core/money/amount.ts'
import { databaseName } from '../database/engines.ts'
import { claimMode, findMode } from '../modules/installation/installation.ts'
import { parseReason, readOnlyService, recordAction } from '../modules/operators/record-action.ts'
import type { Service } from '../operations/context.ts'
import { createService } from '../operations/context.ts'
import type { Command, CommandRuntime } from './command.ts'
import { currentActor, fieldNamesOf } from './command.ts'
import { commands } from './commands.ts'
import { escapeControlCharacters } from './format-cell.ts'
import { formatText } from './format-text.ts'
import type { Progress } from './output.ts'
import { createOutputWriter, createProgress } from './output.ts'
import type { ParsedCommandLine } from './program.ts'
import { parseCommandLine, UsageError } from './program.ts'

export type CliEnvironment = {
  readonly environment?: NodeJS.ProcessEnv
  readonly print: (text: string) => unknown
  readonly printError: (text: string) => unknown
  /** Aborting the signal ends a long-running command, like Ctrl-C. */
  readonly signal?: AbortSignal
  readonly streams?: { readonly output: WriteStream; readonly errors: WriteStream }
}

const currentProcess: CliEnvironment = {
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  streams: { output: process.stdout, errors: process.stderr },
}

/**
 * Returns the exit code: 0 for success, 1 for a rejected or failed command, 2 for an invalid command line.
 *
 * With `--json`, a command prints one JSON value to standard output. A long-running command prints one JSON value per
 * line.
 */
export async function runCommand(args: readonly string[], cli: CliEnvironment = currentProcess): Promise<number> {
  const isJson = args.includes('--json')
  let command: Command | undefined
  try {
    const { output } = cli.streams ?? {}
    const columns = output?.isTTY ? output.columns : undefined
    const commandLine = parseCommandLine(commands, args, { isJson, print: cli.print, columns })
    if (commandLine === null) return 0
    command = commands[commandLine.name] as Command
    const { result, code } = await executeCommand(command, commandLine, { isJson, cli })
    if (command.isLongRunning || result === undefined) return code
    const text = isJson
      ? `${toJson(result)}\n`
      : formatText(JSON.parse(toJson(result)), textLayoutFor(command, commandLine, output))
    cli.print(text)
    return code
  } catch (error) {
    return reportFailure(error as Error, { isJson, names: command ? fieldNamesOf(command) : {}, cli })
  }
}

function textLayoutFor({ columns = {} }: Command, { isWide }: ParsedCommandLine, output: WriteStream | undefined) {
  if (!output?.isTTY) return { columns, terminal: undefined }
  return { columns, terminal: { stream: output, width: isWide ? Infinity : output.columns } }
}

type Execution = { readonly isJson: boolean; readonly cli: CliEnvironment }

async function executeCommand(
  command: Command,
  commandLine: ParsedCommandLine,
  execution: Execution,
): Promise<{ result: unknown; code: number }> {
  const { isJson, cli } = execution
  const environment = cli.environment
    ? { variables: cli.environment, namesFromFile: new Set<string>() }
    : processEnvironment()
  const config = readConfig(environment.variables)
  const isStandalone = 'runStandalone' in command
  if (isStandalone && !command.isWithoutDatabase && !isJson) cli.printError(`${databaseName(config.databaseUrl)}\n`)
  const progress = createProgress(cli.streams?.errors)
  try {
    const result = isStandalone
      ? await command.runStandalone(config, commandLine.words, commandLine.options, { progress, environment })
      : await runOnDatabase(command, commandLine, { ...execution, config, progress })
    return { result, code: command.hasFailed?.(result) ? 1 : 0 }
  } finally {
    progress.end()
  }
}

async function runOnDatabase(
  command: Extract<Command, { run: unknown }>,
  commandLine: ParsedCommandLine,
  { isJson, cli, config, progress }: Execution & { readonly config: Config; readonly progress: Progress },
): Promise<unknown> {
  const { printError } = cli
  const copyPath = (command.canBackUpFirst && commandLine.options.backup) || null
  let isCopied = false
  const db = await openDatabase({
    url: config.databaseUrl,
    mustExist:
      command.databaseCreation === undefined || (config.mode === 'live' && command.databaseCreation !== 'inAnyMode'),
    mustBeDurable: config.mode === 'live',
    beforeMigrating: (pending) => {
      printError(`${migrationNotice(pending, copyPath)}\n`)
      isCopied = copyPath !== null
      return copyPath === null ? undefined : pending.backUp(copyPath)
    },
    onMigrating: progress.show,
    onFatal: (error) => {
      printError(`The outcome of a commit is unknown: ${error.message}\n`)
      process.exit(1)
    },
  })
  // Pending promises do not keep a process alive, but a timer does.
  const keepAlive = setInterval(() => {}, 60_000)
  try {
    // The database determines the mode. If MODE is set, MODE must equal the mode of the database.
    const mode = config.isModeGiven ? config.mode : ((await findMode(db)) ?? config.mode)
    const { webhookAllowed } = config
    const service = createService({ db, mode, webhookAllowed, secrets: loadSecrets(config, mode) })
    await claimMode(service)
    if (!isJson) printError(`MODE=${mode}, ${databaseName(config.databaseUrl)}\n`)
    // Opening the database creates a backup only if a migration was pending.
    if (copyPath !== null && !isCopied) await db.backup(copyPath)
    const report = (text: string, json: object) =>
      cli.print(isJson ? `${toJson(json)}\n` : `${escapeControlCharacters(text)}\n`)
    const signal = cli.signal ?? (command.isLongRunning ? abortOnInterrupt() : new AbortController().signal)
    const writeText = createOutputWriter(cli.print)
    const write = (text: string) => {
      // On a terminal, the progress bar and the lines of the export would overwrite each other.
      if (cli.streams?.output.isTTY) progress.end()
      return writeText(text)
    }
    const runtime = { report, write, signal, rails: config.rails, console: config.console, progress }
    return await runWithOperatorLog(service, command, commandLine, runtime)
  } finally {
    clearInterval(keepAlive)
    await db.close()
  }
}

/** Permits only the changes that the command declares. Adds each change to the operator log. */
async function runWithOperatorLog(
  service: Service,
  command: Extract<Command, { run: unknown }>,
  { name, words, options }: ParsedCommandLine,
  runtime: CommandRuntime,
): Promise<unknown> {
  const { changes, run } = command
  const readOnly = readOnlyService(service, name)
  if (changes === 'nothing') return run(readOnly, words, options, runtime)
  if (changes === 'ownActions') return run(service, words, options, runtime)
  const subject = 'created' in changes ? changes.created : await changes.subject(words, options, readOnly)
  if (subject === null) return run(readOnly, words, options, runtime)
  const { reason: typedReason = '', ...otherOptions } = options
  const reason = typedReason.trim() === '' ? null : parseReason(typedReason)
  if (reason === null && changes.movesMoney && service.mode === 'live') throw missingReasonError()
  const isSubjectTheOnlyWord = words.length === 1 && typeof subject === 'string'
  const details = { ...otherOptions, ...(words.length > 0 && !isSubjectTheOnlyWord && { words: words.join(' ') }) }
  const row = { formId: null, ...currentActor('command'), action: name, subject, reason, details }
  return recordAction(service, row, (recording) => run(recording, words, options, runtime))
}

function missingReasonError(): DomainError {
  const message = 'is required in live, because this moves money'
  return invalidInput([{ field: '--reason', code: 'MISSING_REQUIRED_FIELD', message }])
}

/**
 * Ctrl-C can send two signals, from the terminal and from npm. The signal is also aborted if the reader of the output
 * closes the output.
 */
function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort())
  process.stdout.on('error', () => controller.abort())
  return controller.signal
}

function reportFailure(error: Error, { isJson, names, cli }: Execution & { readonly names: FieldNames }): number {
  const code = error instanceof DomainError ? error.code : error instanceof UsageError ? 'USAGE' : 'FAILED'
  const { message } = error instanceof DomainError ? formatDomainError(error, names) : error
  if (isJson) cli.print(`${JSON.stringify({ error: { code, message } })}\n`)
  else cli.printError(`${message.split('\n').map(escapeControlCharacters).join('\n')}\n`)
  return error instanceof UsageError ? 2 : 1
}

function toJson(result: unknown): string {
  return JSON.stringify(result, (_, value: unknown) => (typeof value === 'bigint' ? formatAmount(value) : value))
}
