import { CommanderError } from 'commander'
import type { CommandTable, HelpOutput, ParsedCommandLine } from './program.ts'
import { commandNamesUnder, createProgram } from './program.ts'

/**
 * Parses a command line, or prints the help or version that it asks for.
 *
 * @returns `null` after help or version
 * @throws UsageError
 */
export function parseCommandLine(
  commands: CommandTable,
  args: readonly string[],
  output: HelpOutput,
): ParsedCommandLine | null {
  const parsed: ParsedCommandLine[] = []
  const program = createProgram({ commands, args, output, onParsed: (given) => parsed.push(given) })
  try {
    program.parse(joinCommandName(commands, args), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error
  }
  return parsed[0] ?? null
}

/** Commander takes a command's name as one argument; ours may have two words. `help` becomes `--help`. */
function joinCommandName(commands: CommandTable, args: readonly string[]): string[] {
  const start = args.findIndex(isWord)
  if (start < 0) return args.length === 0 ? ['--help'] : [...args]
  const isHelp = args[start] === 'help'
  const given = isHelp ? args.toSpliced(start, 1) : args
  const [first = '', second = ''] = given.slice(start)
  if (!isWord(first)) return [...given, '--help']
  const pair = `${first} ${second}`
  const isPair = isWord(second) && (Object.hasOwn(commands, pair) || !Object.hasOwn(commands, first))
  const name = isPair ? pair : first
  const named = given.toSpliced(start, isPair ? 2 : 1, name)
  return isHelp && commandNamesUnder(commands, name).length > 0 ? [...named, '--help'] : named
}

function isWord(text: string): boolean {
  return text !== '' && !text.startsWith('-')
}
