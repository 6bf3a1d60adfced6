import type { WriteStream } from 'node:tty'
import type { Config } from '../app/config.ts'
import { readConfig } from '../app/config.ts'
import { secretsOf } from '../app/load-secrets.ts'
import { migrationNotice } from '../app/migration-notice.ts'
import type { Names } from '../core/api/error-message.ts'
import { refusalText } from '../core/api/error-message.ts'
import { invalidInput, Refusal } from '../core/errors.ts'
import { formatAmount } from '../core/money/amount.ts'
import { databaseName, openDatabase } from '../database/open-database.ts'
import { claimMode } from '../modules/installation/claim-mode.ts'
import { findMode } from '../modules/installation/find-mode.ts'
import { keepAction, onlyLooking, parseReason } from '../modules/operators/record-action.ts'
import type { Service } from '../operations/context.ts'
import { createService } from '../operations/context.ts'
import { visible } from './cell.ts'
import type { Command, Going } from './command.ts'
import { namesOf } from './command.ts'
import { parseCommandLine } from './command-line.ts'
import { commands } from './commands.ts'
import { asText } from './format-text.ts'
import { operatorIn } from './operator.ts'
import type { Given } from './program.ts'
import { UsageError } from './program.ts'
import type { Progress } from './progress.ts'
import { progressOn } from './progress.ts'
import { writerTo } from './writer-to.ts'

/** Where a command finds its configuration, unless in the process's environment, and where what it has to say goes. */
export type Surroundings = {
  readonly environment?: NodeJS.ProcessEnv
  readonly print: (text: string) => unknown
  readonly complain: (text: string) => unknown
  /** Ends a command that goes on, unless Ctrl-C does. */
  readonly signal?: AbortSignal
  /** The streams behind `print` and `complain`, of which each may be a terminal. */
  readonly streams?: { readonly output: WriteStream; readonly errors: WriteStream }
}

const ownProcess: Surroundings = {
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
  streams: { output: process.stdout, errors: process.stderr },
}

/**
 * Runs one operator command and answers the exit code: 0 done, 1 refused or failed, 2 not understood.
 *
 * With `--json` everything that it has to say is one JSON value on standard output, or, where it goes on, one on each line.
 */
export async function runCommand(args: readonly string[], around: Surroundings = ownProcess): Promise<number> {
  const isJson = args.includes('--json')
  let command: Command | undefined
  try {
    const { output } = around.streams ?? {}
    const columns = output?.isTTY ? output.columns : undefined
    const given = parseCommandLine(commands, args, { isJson, print: around.print, columns })
    if (given === null) return 0
    command = commands[given.name] as Command
    const { result, code } = await run(command, given, { isJson, around })
    if (command.goesOn || result === undefined) return code
    const text = isJson ? `${toJson(result)}\n` : asText(JSON.parse(toJson(result)), viewFor(command, given, output))
    around.print(text)
    return code
  } catch (error) {
    return fail(error as Error, { isJson, names: command ? namesOf(command) : {}, around })
  }
}

/** How a result is shown: on a terminal within its width, elsewhere with every value as it is. */
function viewFor({ columns = {} }: Command, { isWide }: Given, output: WriteStream | undefined) {
  if (!output?.isTTY) return { columns, terminal: undefined }
  return { columns, terminal: { stream: output, width: isWide ? Infinity : output.columns } }
}

async function run(
  command: Command,
  given: Given,
  output: { isJson: boolean; around: Surroundings },
): Promise<{ result: unknown; code: number }> {
  const { around } = output
  const config = readConfig(around.environment)
  if ('runApart' in command && !output.isJson) around.complain(`${databaseName(config.databaseUrl)}\n`)
  const progress = progressOn(around.streams?.errors)
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

type Around = {
  readonly isJson: boolean
  readonly around: Surroundings
  readonly config: Config
  readonly progress: Progress
}

async function runOnDatabase(
  command: Extract<Command, { run: unknown }>,
  given: Given,
  { isJson, around, config, progress }: Around,
): Promise<unknown> {
  const { complain } = around
  const { options } = given
  const copy = (command.copiesFirst && options.backup) || null
  let isCopied = false
  const db = await openDatabase({
    url: config.databaseUrl,
    // With real money only `migrate` makes a database.
    mustExist: command.mayStart === undefined || (config.mode === 'live' && command.mayStart !== 'inAnyMode'),
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
    const service = createService({ db, mode, webhookAllowed, secrets: secretsOf(config, mode) })
    await claimMode(service)
    if (!isJson) complain(`MODE=${mode}, ${databaseName(config.databaseUrl)}\n`)
    // Where nothing changed, it is copied all the same: it was asked for.
    if (copy !== null && !isCopied) await db.backup(copy)
    const tell = (text: string, said: object) => around.print(isJson ? `${toJson(said)}\n` : `${visible(text)}\n`)
    const signal = around.signal ?? (command.goesOn ? interruption() : new AbortController().signal)
    const writeText = writerTo(around.print)
    const write = (text: string) => {
      // A bar between the lines of an export would spoil both.
      if (around.streams?.output.isTTY) progress.end()
      return writeText(text)
    }
    return await runLogged(service, command, given, { tell, write, signal, rails: config.rails, progress })
  } finally {
    clearInterval(staying)
    await db.close()
  }
}

/** Runs a command with a database that it can change as much as it has said that it does, and no more. */
async function runLogged(
  service: Service,
  command: Extract<Command, { run: unknown }>,
  { name, words, options }: Given,
  going: Going,
): Promise<unknown> {
  const { changes, run } = command
  const looking = onlyLooking(service, name)
  if (changes === 'nothing') return run(looking, words, options, going)
  if (changes === 'ownActions') return run(service, words, options, going)
  const subject = 'created' in changes ? changes.created : await changes.subject(words, options, looking)
  if (subject === null) return run(looking, words, options, going)
  const { reason: given = '', ...said } = options
  const reason = given.trim() === '' ? null : parseReason(given)
  if (reason === null && changes.movesMoney && service.mode === 'live') throw reasonRequired()
  // What the subject does not tell.
  const isWordTold = words.length === 1 && typeof subject === 'string'
  const details = { ...said, ...(words.length > 0 && !isWordTold && { words: words.join(' ') }) }
  const kept = { formId: null, ...operatorIn('command'), action: name, subject, reason, details }
  return keepAction(service, kept, (keeping) => run(keeping, words, options, going))
}

function reasonRequired(): Refusal {
  const message = 'is required in live, because this moves money'
  return invalidInput([{ field: '--reason', code: 'MISSING_REQUIRED_FIELD', message }])
}

/** Ctrl-C, of which a terminal tells npm and this process, and npm tells it again; or that nobody reads what is printed. */
function interruption(): AbortSignal {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ending.abort())
  process.stdout.on('error', () => ending.abort())
  return ending.signal
}

type Told = { readonly isJson: boolean; readonly names: Names; readonly around: Surroundings }

function fail(error: Error, { isJson, names, around }: Told): number {
  const code = error instanceof Refusal ? error.code : error instanceof UsageError ? 'USAGE' : 'FAILED'
  const { message } = error instanceof Refusal ? refusalText(error, names) : error
  if (isJson) around.print(`${JSON.stringify({ error: { code, message } })}\n`)
  else around.complain(`${message.split('\n').map(visible).join('\n')}\n`)
  return error instanceof UsageError ? 2 : 1
}

/** Amounts are the only bigints, and are shown as everywhere: decimal strings of eight places. */
function toJson(result: unknown): string {
  return JSON.stringify(result, (_, value: unknown) => (typeof value === 'bigint' ? formatAmount(value) : value))
}
