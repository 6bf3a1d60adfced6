import { CommanderError } from 'commander'
import type { Commands, Given, Output } from './program.ts'
import { namesBelow, programOf } from './program.ts'

/**
 * Parses a command line, or prints the help or version that it asks for.
 *
 * @returns `null` after help or version
 * @throws UsageError
 */
export function parseCommandLine(commands: Commands, args: readonly string[], output: Output): Given | null {
  const parsed: Given[] = []
  const program = programOf({ commands, args, output, onParsed: (given) => parsed.push(given) })
  try {
    program.parse(withNameInOne(commands, args), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error
  }
  return parsed[0] ?? null
}

/** Commander takes a command's name as one argument; ours may have two words. `help` becomes `--help`. */
function withNameInOne(commands: Commands, args: readonly string[]): string[] {
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
  return isHelp && namesBelow(commands, name).length > 0 ? [...named, '--help'] : named
}

function isWord(text: string): boolean {
  return text !== '' && !text.startsWith('-')
}
