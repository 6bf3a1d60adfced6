import { styleText } from 'node:util'
import type { Help } from 'commander'
import { Argument, CommanderError, InvalidArgumentError, Option, Command as Program } from 'commander'
import stringWidth from 'string-width'
import { cliCommand, version } from '../core/package.ts'
import type { Command, CommandSyntax, CommandTable, OptionHelp, OptionValues } from './command.ts'

export class UsageError extends Error {}

export type ParsedCommandLine = {
  readonly name: string
  readonly words: readonly string[]
  readonly options: OptionValues
  readonly isWide: boolean
}

export type HelpOutput = {
  readonly isJson: boolean
  readonly print: (text: string) => unknown
  readonly columns?: number | undefined
}

type ProgramInput = {
  readonly commands: CommandTable
  readonly args: readonly string[]
  readonly output: HelpOutput
  readonly onParsed: (commandLine: ParsedCommandLine) => void
}

const helpGroups: Readonly<Record<string, readonly string[]>> = {
  'Merchants and API keys:': ['merchant', 'key', 'token'],
  'Search:': ['find'],
  'Customers and wallets:': ['customer', 'wallet'],
  'Payouts and deposits:': ['payout', 'attention', 'deposit'],
  'Rails and banks:': ['rail', 'reconcile'],
  'Prices and assets:': ['rate', 'fee', 'asset'],
  'Books:': ['audit', 'export', 'statistics'],
  'Webhooks and events:': ['webhook', 'delivery', 'events', 'listen', 'documents'],
  'Moving:': ['copy', 'import', 'contract'],
  'Installation:': ['config', 'migrate', 'backup', 'restore', 'doctor', 'console', 'operator'],
  'Sandbox:': ['demo', 'fill', 'trigger', 'clock'],
}

/**
 * Returns `null` after it has printed the help or the version.
 *
 * @throws UsageError
 */
export function parseCommandLine(
  commands: CommandTable,
  args: readonly string[],
  output: HelpOutput,
): ParsedCommandLine | null {
  const parsed: ParsedCommandLine[] = []
  const program = createProgram({ commands, args, output, onParsed: (commandLine) => parsed.push(commandLine) })
  try {
    program.parse(joinCommandName(commands, args), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error
  }
  return parsed[0] ?? null
}

/** Joins command names of two words into one argument, as Commander requires. Replaces `help` with `--help`. */
function joinCommandName(commands: CommandTable, args: readonly string[]): string[] {
  const start = args.findIndex(isWord)
  if (start < 0) return args.length === 0 ? ['--help'] : [...args]
  const isHelp = args[start] === 'help'
  const rest = isHelp ? args.toSpliced(start, 1) : args
  const [first = '', second = ''] = rest.slice(start)
  if (!isWord(first)) return [...rest, '--help']
  const pair = `${first} ${second}`
  const isPair = isWord(second) && (Object.hasOwn(commands, pair) || !Object.hasOwn(commands, first))
  const name = isPair ? pair : first
  const named = rest.toSpliced(start, isPair ? 2 : 1, name)
  return isHelp && commandNamesUnder(commands, name).length > 0 ? [...named, '--help'] : named
}

function isWord(text: string): boolean {
  return text !== '' && !text.startsWith('-')
}

function commandNamesUnder(commands: CommandTable, name: string): string[] {
  return Object.keys(commands).filter((each) => each === name || each.startsWith(`${name} `))
}

/** Commander prints the help and the version. Errors are thrown as UsageError. */
function createProgram(input: ProgramInput): Program {
  const { commands, output } = input
  const program = new Program(cliCommand)
    .description('Operates an installation of payout-gateway.')
    .version(output.isJson ? JSON.stringify({ version }) : version, '-V, --version', 'print the version')
    .option('--json', 'print one JSON value to standard output')
    .option('--wide', 'print all columns of a list in full')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand(false)
    .exitOverride((error) => throwUsageError(error, '"help" lists the commands.'))
  configureHelp(program, input)
  for (const [heading, nouns] of Object.entries(helpGroups)) {
    for (const noun of nouns) {
      const names = commandNamesUnder(commands, noun)
      for (const name of names)
        addCommand(program, createCommandParser(name, commands[name] as Command, input).helpGroup(heading))
      if (!names.includes(noun)) addCommand(program, createNounParser(noun, names), { hidden: true })
    }
  }
  return program
}

function configureHelp(program: Program, { commands, output: { isJson, print, columns } }: ProgramInput): void {
  const commandNamesFor = (about: Program) =>
    about === program ? Object.keys(commands) : commandNamesUnder(commands, about.name())
  const helpJson = (about: Program) =>
    JSON.stringify(commandNamesFor(about).map((name) => commandHelp(name, commands[name] as Command)))
  program
    .configureOutput({
      ...{ writeOut: print, writeErr: () => {}, outputError: () => {}, getOutHasColors: () => true },
      ...(columns !== undefined && { getOutHelpWidth: () => columns }),
    })
    .configureHelp({
      showGlobalOptions: true,
      displayWidth: stringWidth,
      styleTitle: (title) => styleText('bold', title, { stream: process.stdout }),
      visibleCommands: (about) => {
        const names = commandNamesFor(about)
        return program.commands.filter((each) => each !== about && names.includes(each.name()))
      },
      subcommandTerm: (each) => each.name(),
      styleUsage(this: Help, usage) {
        const label = 'Usage: '
        return this.boxWrap(usage, (this.helpWidth ?? 80) - label.length).replaceAll(
          '\n',
          `\n${' '.repeat(label.length)}`,
        )
      },
      ...(isJson && { formatHelp: (about: Program) => `${helpJson(about)}\n` }),
    })
    .addHelpText('after', isJson ? '' : '\n"help <command>" explains a command and its options.')
}

function addCommand(program: Program, command: Program, options = {}): void {
  const usage = `Usage: ${command.name()} ${command.usage()}`
  program.addCommand(
    command.copyInheritedSettings(program).exitOverride((error) => throwUsageError(error, usage)),
    options,
  )
}

function createCommandParser(name: string, syntax: CommandSyntax, { args, onParsed }: ProgramInput): Program {
  const { summary, words = [], required = {}, options = {}, flags = {} } = syntax
  const [firstSentence = summary] = summary.split(/(?<=\.)(?: |$)/)
  const command = new Program(name).summary(firstSentence.replace(/\.$/, '')).description(summary)
  const createOption = ([option, value]: [string, OptionHelp]) =>
    new Option(`--${option} <${optionNoun(value)}>`, optionExplanation(value)).argParser((text, previous) =>
      parseOptionValue({ option, text, previous, args }),
    )
  for (const word of words) command.addArgument(new Argument(`<${word}>`))
  for (const each of Object.entries(required)) {
    command.addOption(createOption(each).helpGroup('Required options:'))
  }
  for (const each of Object.entries(options)) command.addOption(createOption(each))
  for (const [flag, explanation] of Object.entries(flags)) command.option(`--${flag}`, explanation)
  return command.usage(usageOf(syntax, ['[options]'])).action(() => {
    const entries = command.options.map((option) => [option.name(), command.getOptionValue(option.attributeName())])
    const present = entries.filter(([, value]) => value !== undefined).map(([option, value]) => [option, String(value)])
    // Commander checks required options before unknown options, so a misspelt required option would be reported as
    // missing.
    const missing = Object.keys(required).filter((option) =>
      entries.some(([each, value]) => each === option && value === undefined),
    )
    if (missing.length > 0) command.error(`error: ${missing.map((option) => `--${option} is required`).join('; ')}`)
    const isWide = command.optsWithGlobals().wide === true
    onParsed({ name, words: command.args, options: Object.fromEntries(present), isWide })
  })
}

type OptionOccurrence = { option: string; text: string; previous: unknown; args: readonly string[] }

function parseOptionValue({ option, text, previous, args }: OptionOccurrence): string {
  // Commander would silently use the last value of a repeated option.
  if (previous !== undefined) throw new InvalidArgumentError(`--${option} is given more than once.`)
  if (/^-./.test(text) && !args.includes(`--${option}=${text}`)) {
    throw new InvalidArgumentError(`A value that begins with a dash is written --${option}=${text}.`)
  }
  return text
}

/** Creates a parser for the first word of commands with two words, for example `webhooks` in `webhooks list`. */
function createNounParser(noun: string, names: readonly string[]): Program {
  const command = new Program(noun).usage('<command>')
  const seconds = names.map((name) => name.slice(noun.length + 1))
  return command.action(() => command.error(`error: ${noun} must be followed by one of ${seconds.join(', ')}`))
}

function throwUsageError(error: CommanderError, advice: string): never {
  if (error.exitCode === 0) throw error
  const message = error.code === 'commander.help' ? 'a command is required' : error.message.replace(/^error: /, '')
  throw new UsageError(`${message}\n${advice}`)
}

function commandHelp(name: string, syntax: CommandSyntax): { usage: string; summary: string } {
  const { summary, options = {}, flags = {} } = syntax
  const optional = [
    ...Object.entries(options).map(([option, value]) => `[--${option} <${optionNoun(value)}>]`),
    ...Object.keys(flags).map((flag) => `[--${flag}]`),
  ]
  return { usage: `${name} ${usageOf(syntax, optional)}`.trimEnd(), summary }
}

function usageOf({ words = [], required = {} }: CommandSyntax, optional: readonly string[]): string {
  const values = Object.entries(required).map(([option, value]) => `--${option} <${optionNoun(value)}>`)
  return [...words.map((word) => `<${word}>`), ...values, ...optional].join(' ')
}

function optionNoun(value: OptionHelp): string {
  return typeof value === 'string' ? value : value[0]
}

function optionExplanation(value: OptionHelp): string | undefined {
  return typeof value === 'string' ? undefined : value[1]
}
