import type { Context, Service } from '../../context.ts'
import { createContext } from '../../context.ts'
import type { Names } from '../../doors/refusal-text.ts'
import { invalidInput, Refusal } from '../../errors.ts'
import { findMerchant } from '../../merchants/find-merchant.ts'
import { allMerchants } from '../../merchants/repository.ts'
import { contextOf } from '../../operators/owner-of.ts'
import type { Config } from '../config.ts'

/** What was given as `--name value`; a flag that was given has some text. */
export type Options = Readonly<Record<string, string | undefined>>

/** What a command finds around it: for one that goes on, what it prints meanwhile, a line of text or one JSON value, and what ends it. */
export type Going = {
  readonly tell: (text: string, said: object) => void
  /** Prints a text as it is, and waits until it is taken. @throws Error when nobody reads it any more */
  readonly write: (text: string) => Promise<void>
  readonly signal: AbortSignal
  readonly rails: Config['rails']
}

/** How a command is typed and explained. */
export type Form = {
  readonly summary: string
  /** What must be given, in order. */
  readonly words?: readonly string[]
  /** What must be given as `--name value`, each with the name of its value. */
  readonly required?: Readonly<Record<string, string>>
  /** What may be given so. */
  readonly options?: Readonly<Record<string, string>>
  /** What may be given as `--name` alone. */
  readonly flags?: readonly string[]
  /** How an operator types the fields of its operation, where that is neither a word nor an option of the field's name. */
  readonly names?: Names
  /** Whether it is kept in the log of operators, with the reason where one is given: the id of what it is done to. */
  readonly keptOf?: (words: readonly string[]) => string
  /** Whether it goes on until Ctrl-C, and has no result; one that has none at its end, because it wrote it, gives `undefined`. */
  readonly goesOn?: true
  /** Whether a result means failure, as a scheduler should see it. */
  readonly hasFailed?: (result: unknown) => boolean
}

/** What a command does on the open database. */
type OnDatabase = {
  readonly run: (service: Service, words: readonly string[], options: Options, going: Going) => Promise<unknown>
  /** Whether it may be the first to use a database, in the sandbox or in any mode; any other refuses one that is not there. */
  readonly mayStart?: 'inSandbox' | 'inAnyMode'
  /** Whether `--backup` copies the database before it is brought into a later form. */
  readonly copiesFirst?: true
}

/** What one does that opens the database by itself, or must not: opening brings it to the latest form. */
type Apart = {
  readonly runApart: (config: Config, words: readonly string[], options: Options) => Promise<unknown>
}

/** One operator command; its result is what it prints. */
export type Command = Form & (OnDatabase | Apart)

/** The word at `place`; the operations parse what they are given, so a command only renames it. */
export function word(words: readonly string[], place: number): string {
  return words[place] ?? ''
}

/** What names the thing that a command works on, where that is its first word. */
export function firstWord(words: readonly string[]): string {
  return word(words, 0)
}

/** The same of a pair, such as an asset and a currency. */
export function firstTwoWords(words: readonly string[]): string {
  return `${word(words, 0)} ${word(words, 1)}`
}

/** What an option lists, separated by commas. */
export function listed(text: string | undefined): string[] | undefined {
  return text?.split(',').map((each) => each.trim())
}

/** How an operator types each field that a command's operation may find faulty. */
export function namesOf({ words = [], required = {}, options = {}, names = {} }: Form): Names {
  const typed = [
    ...words.map((each) => [each, `<${each}>`] as const),
    ...Object.keys({ ...required, ...options }).map((each) => [each, `--${each}`] as const),
  ]
  return { ...Object.fromEntries(typed.map(([name, text]) => [camelCase(name), text])), ...names }
}

function camelCase(name: string): string {
  return name.replace(/[ -]([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A request in the name of the merchant whose list is asked for: the one that is named, that of what is named, or the only one. */
export async function contextOfList(service: Service, { merchant, wallet, customer }: Options): Promise<Context> {
  if (merchant !== undefined) return createContext(service, (await findMerchant(service.db, merchant)).id)
  if (wallet !== undefined) return contextOf(service, 'wallet', wallet)
  if (customer !== undefined) return contextOf(service, 'customer', customer)
  const [only, ...others] = await allMerchants(service.db, {})
  if (only !== undefined && others.length === 0) return createContext(service, only.id)
  const message = only ? 'is required, because there are several: merchant list shows them' : 'must be created first'
  throw invalidInput([{ field: '--merchant', code: 'MISSING_REQUIRED_FIELD', message }])
}

/** @throws Refusal INVALID_INPUT that names the option */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw invalidInput([{ field: `--${option}`, code: 'INVALID_FORMAT', message: 'must be a whole number' }])
}

/** Invented data must never meet a live merchant. */
export function sandboxOnly(service: Service, command: string): Service {
  if (service.mode === 'sandbox') return service
  throw new Refusal('INVALID_INPUT', `The command ${command} exists in MODE=sandbox only.`)
}
