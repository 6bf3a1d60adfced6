import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { createService } from '../context.ts'
import { openDatabase } from '../database/open.ts'
import { Refusal } from '../errors.ts'
import { claimMode } from '../installation/claim-mode.ts'
import { formatAmount } from '../money/amount.ts'
import type { Command } from './commands.ts'
import { commands } from './commands.ts'
import { asText } from './text.ts'

/**
 * Runs one operator command and answers the exit code: 0 done, 1 refused or failed, 2 not understood.
 *
 * With `--json` everything that it has to say is one JSON value on standard output.
 */
export async function runCommand(args: readonly string[]): Promise<number> {
  const isJson = args.includes('--json')
  const words = args.filter((arg) => arg !== '--json')
  const name = Object.keys(commands).find((known) => known.split(' ').every((word, i) => words[i] === word))
  const command = name === undefined ? undefined : commands[name]
  if (name === undefined || command === undefined) return explain(words)
  try {
    const given = readArguments(name, command, words.slice(name.split(' ').length))
    const { result, code } = await run(command, given)
    process.stdout.write(isJson ? `${toJson(result)}\n` : asText(JSON.parse(toJson(result))))
    return code
  } catch (error) {
    return fail(error as Error, isJson)
  }
}

type Given = { readonly words: readonly string[]; readonly options: Record<string, string | undefined> }

class UsageError extends Error {}

async function run(command: Command, { words, options }: Given): Promise<{ result: unknown; code: number }> {
  const config = readConfig()
  const db = await openDatabase({
    url: config.databaseUrl,
    // With real money only `migrate` makes a database.
    mustExist: command.mayStart === undefined || (config.mode === 'live' && command.mayStart !== 'inAnyMode'),
    mustBeDurable: config.mode === 'live',
    onFatal: (error) => {
      process.stderr.write(`The outcome of a commit is unknown: ${error.message}\n`)
      process.exit(1)
    },
  })
  try {
    const service = createService({ db, mode: config.mode })
    await claimMode(service)
    const result = await command.run(service, words, options)
    return { result, code: command.hasFailed?.(result) ? 1 : 0 }
  } finally {
    await db.close()
  }
}

function readArguments(name: string, command: Command, args: readonly string[]): Given {
  const { words = [], options = {} } = command
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: Object.fromEntries(Object.keys(options).map((option) => [option, { type: 'string' as const }])),
    })
    if (positionals.length !== words.length)
      throw new Error(`It takes ${words.length} words, not ${positionals.length}.`)
    return { words: positionals, options: values as Record<string, string | undefined> }
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nUsage: ${usageOf(name, command)}`)
  }
}

function usageOf(name: string, { words = [], options = {} }: Command): string {
  const optional = Object.entries(options).map(([option, value]) => `[--${option} <${value}>]`)
  return [name, ...words.map((word) => `<${word}>`), ...optional].join(' ')
}

function explain(words: readonly string[]): number {
  const isHelp = words.length === 0 || words[0] === 'help' || words[0] === '--help'
  const lines = Object.entries(commands).map(
    ([name, command]) => `  ${usageOf(name, command)}\n      ${command.summary}`,
  )
  const text = `Usage: npm run -s cli -- <command> [--json]\n\n${lines.join('\n')}\n`
  if (isHelp) process.stdout.write(text)
  else process.stderr.write(`There is no command "${words.join(' ')}".\n\n${text}`)
  return isHelp ? 0 : 2
}

function fail(error: Error, isJson: boolean): number {
  const code = error instanceof Refusal ? error.code : error instanceof UsageError ? 'USAGE' : 'FAILED'
  const fields = error instanceof Refusal ? error.details.fields : undefined
  const message = fields?.map(({ field, message: fault }) => `${field} ${fault}`).join('; ') ?? error.message
  if (isJson) process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`)
  else process.stderr.write(`${message}\n`)
  return error instanceof UsageError ? 2 : 1
}

/** Amounts are the only bigints, and are shown as everywhere: decimal strings of eight places. */
function toJson(result: unknown): string {
  return JSON.stringify(result, (_, value: unknown) => (typeof value === 'bigint' ? formatAmount(value) : value))
}
