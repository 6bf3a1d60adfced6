import { parseArgs } from 'node:util'
import type { Service } from '../../context.ts'
import { createService } from '../../context.ts'
import { databaseName, openDatabase } from '../../database/open-database.ts'
import type { Names } from '../../doors/refusal-text.ts'
import { refusalText } from '../../doors/refusal-text.ts'
import { invalidInput, Refusal } from '../../errors.ts'
import { claimMode } from '../../installation/claim-mode.ts'
import { findMode } from '../../installation/find-mode.ts'
import { formatAmount } from '../../money/amount.ts'
import { keepAction, onlyLooking, parseReason } from '../../operators/keep-action.ts'
import type { Config } from '../config.ts'
import { readConfig } from '../config.ts'
import { migrationNotice } from '../migration-notice.ts'
import { secretsOf } from '../secrets-of.ts'
import type { Command, Going, Options } from './command.ts'
import { namesOf } from './command.ts'
import { commands } from './commands.ts'
import { operatorIn } from './operator.ts'
import { asText } from './text.ts'
import type { Explained } from './usage.ts'
import { commandNamed, explained, nearest, UsageError, unknownCommand, usageOf } from './usage.ts'
import { writerTo } from './writer-to.ts'

/** Where a command finds its configuration, unless in the process's environment, and where what it has to say goes. */
export type Surroundings = {
  readonly environment?: NodeJS.ProcessEnv
  readonly print: (text: string) => unknown
  readonly complain: (text: string) => unknown
  /** Ends a command that goes on, unless Ctrl-C does. */
  readonly signal?: AbortSignal
}

const ownProcess: Surroundings = {
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
}

/**
 * Runs one operator command and answers the exit code: 0 done, 1 refused or failed, 2 not understood.
 *
 * With `--json` everything that it has to say is one JSON value on standard output, or, where it goes on, one on each line.
 */
export async function runCommand(args: readonly string[], around: Surroundings = ownProcess): Promise<number> {
  const isJson = args.includes('--json')
  const words = args.filter((arg) => arg !== '--json')
  const name = commandNamed(commands, words)
  const command = name === undefined ? undefined : commands[name]
  try {
    const help = askedForHelp(words)
    if (help !== null) {
      around.print(isJson ? `${JSON.stringify(help)}\n` : helpText(help))
      return 0
    }
    if (name === undefined || command === undefined) throw unknownCommand(commands, words)
    const { result, code } = await run(command, readArguments(name, command, words), { isJson, around })
    if (!command.goesOn && result !== undefined)
      around.print(isJson ? `${toJson(result)}\n` : asText(JSON.parse(toJson(result))))
    return code
  } catch (error) {
    return fail(error as Error, { isJson, names: command ? namesOf(command) : {}, around })
  }
}

type Parsed = {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
}

type Given = { readonly name: string; readonly words: readonly string[]; readonly options: Options }

async function run(
  command: Command,
  given: Given,
  output: { isJson: boolean; around: Surroundings },
): Promise<{ result: unknown; code: number }> {
  const config = readConfig(output.around.environment)
  if ('runApart' in command && !output.isJson) output.around.complain(`${databaseName(config.databaseUrl)}\n`)
  const result =
    'runApart' in command
      ? await command.runApart(config, given.words, given.options)
      : await runOnDatabase(command, given, { ...output, config })
  return { result, code: command.hasFailed?.(result) ? 1 : 0 }
}

async function runOnDatabase(
  command: Extract<Command, { run: unknown }>,
  given: Given,
  { isJson, around, config }: { isJson: boolean; around: Surroundings; config: Config },
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
    const tell = (text: string, said: object) => around.print(isJson ? `${toJson(said)}\n` : `${text}\n`)
    const signal = around.signal ?? (command.goesOn ? interruption() : new AbortController().signal)
    const write = writerTo(around.print)
    return await runLogged(service, command, given, { tell, write, signal, rails: config.rails })
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

function readArguments(name: string, command: Command, args: readonly string[]): Given {
  const { words = [], required = {}, options = {}, flags = [] } = command
  const withValue = Object.keys({ ...required, ...options })
  const fail = (message: string) => new UsageError(`${message}\nUsage: ${usageOf(name, command)}`)
  try {
    const { values, positionals }: Parsed = parseArgs({
      args: args.slice(name.split(' ').length),
      allowPositionals: true,
      options: Object.fromEntries([
        ...withValue.map((option) => [option, { type: 'string' as const, multiple: true }]),
        ...flags.map((flag) => [flag, { type: 'boolean' as const }]),
      ]),
    })
    // The last of two would win, and it may be the one that was forgotten in the line that was edited.
    const repeated = withValue.find((option) => Array.isArray(values[option]) && values[option].length > 1)
    if (repeated !== undefined) throw fail(`--${repeated} is given more than once`)
    const given: Options = Object.fromEntries(Object.entries(values).map(([option, value]) => [option, String(value)]))
    const missing = [
      ...words.slice(positionals.length).map((word) => `<${word}>`),
      ...Object.keys(required)
        .filter((option) => given[option] === undefined)
        .map((option) => `--${option}`),
    ]
    if (missing.length > 0) throw fail(missing.map((each) => `${each} is required`).join('; '))
    if (positionals.length > words.length) throw fail(`"${positionals[words.length]}" is a word too many`)
    return { name, words: positionals, options: given }
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { message, code } = error as Error & { code?: string }
    const [, option = ''] = /'(--?[^']*)'/.exec(message) ?? []
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw fail(message)
    const near = nearest(option.replace(/^-+/, ''), [...withValue, ...flags])
    throw fail(`There is no ${option}${near ? `. Did you mean --${near}?` : ''}`)
  }
}

/** What is asked for with `help`, `--help` before or after anything, or nothing at all; `null` where something else is. */
function askedForHelp(words: readonly string[]): Explained[] | null {
  const [first] = words
  const isAsked = words.includes('--help') || words.includes('-h')
  if (first !== undefined && first !== 'help' && !isAsked) return null
  const about = words.filter((word) => !['help', '--help', '-h'].includes(word))
  return explained(commands, about)
}

function helpText(help: readonly Explained[]): string {
  const lines = help.map(({ usage, summary }) => `  ${usage}\n      ${summary}`)
  return `Usage: npm run -s cli -- <command> [--json]\n\n${lines.join('\n')}\n`
}

type Told = { readonly isJson: boolean; readonly names: Names; readonly around: Surroundings }

function fail(error: Error, { isJson, names, around }: Told): number {
  const code = error instanceof Refusal ? error.code : error instanceof UsageError ? 'USAGE' : 'FAILED'
  const { message } = error instanceof Refusal ? refusalText(error, names) : error
  if (isJson) around.print(`${JSON.stringify({ error: { code, message } })}\n`)
  else around.complain(`${message}\n`)
  return error instanceof UsageError ? 2 : 1
}

/** Amounts are the only bigints, and are shown as everywhere: decimal strings of eight places. */
function toJson(result: unknown): string {
  return JSON.stringify(result, (_, value: unknown) => (typeof value === 'bigint' ? formatAmount(value) : value))
}
