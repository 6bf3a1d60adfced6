import type { Command, Form } from './command.ts'

/** A command that was not understood; the message says what would be. */
export class UsageError extends Error {}

type Commands = Readonly<Record<string, Command>>

/** How a command is called and what it does. */
export type Explained = { readonly usage: string; readonly summary: string }

/** The command that the first of `words` name, if any does: the longest, because `deposit attention` begins as `deposit` does. */
export function commandNamed(commands: Commands, words: readonly string[]): string | undefined {
  const named = Object.keys(commands).filter((known) => known.split(' ').every((part, place) => words[place] === part))
  return named.toSorted((one, other) => other.length - one.length)[0]
}

/** Those commands that `words` begin to name; where they name none, all of them. */
export function explained(commands: Commands, words: readonly string[]): Explained[] {
  const named = commandNamed(commands, words)
  const begun = Object.keys(commands).filter((name) => (named ? name === named : name.startsWith(`${words[0]} `)))
  return (begun.length > 0 ? begun : Object.keys(commands)).map((name) => {
    const command = commands[name] as Command
    return { usage: usageOf(name, command), summary: command.summary }
  })
}

/** A command with all that it takes; what is in brackets may be left out. */
export function usageOf(name: string, { words = [], required = {}, options = {}, flags = [] }: Form): string {
  const value = ([option, noun]: [string, string]) => `--${option} <${noun}>`
  return [
    name,
    ...words.map((word) => `<${word}>`),
    ...Object.entries(required).map(value),
    ...Object.entries(options).map((option) => `[${value(option)}]`),
    ...flags.map((flag) => `[--${flag}]`),
  ].join(' ')
}

/** What to say to words that name no command. */
export function unknownCommand(commands: Commands, words: readonly string[]): UsageError {
  const known = Object.keys(commands)
  const group = known.filter((name) => name.startsWith(`${words[0]} `))
  const asked = words.slice(0, 2).join(' ')
  const near = nearest(asked, known) ?? nearest(words[0] ?? '', known)
  const advice = near ? `Did you mean "${near}"?` : group.length > 0 ? `There is ${group.join(', ')}.` : ''
  return new UsageError(`There is no command "${asked}". ${advice || 'The command "help" lists them.'}`)
}

/** The one of `known` that `text` was meant to be, if one is near. */
export function nearest(text: string, known: readonly string[]): string | null {
  const [closest] = known
    .map((name) => ({ name, distance: distanceBetween(text, name) }))
    .toSorted((one, other) => one.distance - other.distance)
  return closest !== undefined && closest.distance <= Math.max(2, text.length / 3) ? closest.name : null
}

/** How many letters must be added, taken away or replaced to make one text of the other (Levenshtein). */
function distanceBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (let place = 1; place <= other.length; place++) {
      const replaced = (row[place - 1] as number) + (letter === other[place - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[place] as number) + 1, (next[place - 1] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}
