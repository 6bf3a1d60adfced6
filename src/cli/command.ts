import type { Config } from '../app/config.ts'
import type { FieldNames } from '../core/api/error-message.ts'
import { DomainError, invalidInput } from '../core/errors.ts'
import { findMerchant } from '../modules/merchants/find-merchant.ts'
import { allMerchants } from '../modules/merchants/repository.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import type { Context, IdempotentResult, Service } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { Progress } from './progress.ts'
import type { TextColumns } from './table.ts'

/** The value of an option by the name of what it is, and what else the help says of it. */
export type OptionHelp = string | readonly [noun: string, explanation: string]

/** What was given as `--name value`; a flag that was given has some text. */
export type OptionValues = Readonly<Record<string, string | undefined>>

/** What a command finds around it: for one that goes on, what it prints meanwhile, a line of text or one JSON value, and what ends it. */
export type CommandRuntime = {
  readonly report: (text: string, said: object) => void
  /** Prints a text as it is, and waits until it is taken. @throws Error when nobody reads it any more */
  readonly write: (text: string) => Promise<void>
  readonly signal: AbortSignal
  readonly rails: Config['rails']
  readonly progress: Progress
}

/** How a command is typed and explained. */
export type CommandSyntax = {
  /** The list of commands shows the first sentence, the help of the command all. */
  readonly summary: string
  /** What must be given, in order. */
  readonly words?: readonly string[]
  /** What must be given as `--name value`. */
  readonly required?: Readonly<Record<string, OptionHelp>>
  /** What may be given so. */
  readonly options?: Readonly<Record<string, OptionHelp>>
  /** What may be given as `--name` alone, each with what it does. */
  readonly flags?: Readonly<Record<string, string>>
  /** How a terminal shows the columns of its lists. */
  readonly columns?: TextColumns
  /** How an operator types the fields of its operation, where that is neither a word nor an option of the field's name. */
  readonly names?: FieldNames
  /** Whether it goes on until Ctrl-C, and has no result; one that has none at its end, because it wrote it, gives `undefined`. */
  readonly isLongRunning?: true
  /** Whether a result means failure, as a scheduler should see it. */
  readonly hasFailed?: (result: unknown) => boolean
}

/** What a command that changes the database says of that, for the operator log. */
export type LoggedChange = {
  /** Whether money moves by it: in live it then needs a reason. */
  readonly movesMoney?: true
} & (
  | {
      /** The id of what it is done to, as it was typed or is found by what was; `null` where it only looks, as it was typed. */
      readonly subject: (
        words: readonly string[],
        options: OptionValues,
        service: Service,
      ) => string | null | Promise<string | null>
    }
  /** The same of what it creates, by what its transaction made. */
  | { readonly created: (made: unknown) => string }
)

/**
 * What a command changes, which every command must say. One that changes nothing has a database that can't be written to; one that
 * says what it is done to leaves a row in the operator log, in the transaction that does it. `ownActions` is for a program that
 * logs each of its actions itself.
 */
type ChangeDeclaration = { readonly changes: 'nothing' | 'ownActions' | LoggedChange }

/** What a command does on the open database. */
type DatabaseCommand = ChangeDeclaration & {
  readonly run: (
    service: Service,
    words: readonly string[],
    options: OptionValues,
    going: CommandRuntime,
  ) => Promise<unknown>
  /** Whether it may be the first to use a database, in the sandbox or in any mode; any other refuses one that is not there. */
  readonly databaseCreation?: 'inSandbox' | 'inAnyMode'
  /** Whether `--backup` copies the database before it is brought into a later form. */
  readonly canBackUpFirst?: true
}

/** What one does that opens the database by itself, or must not: opening brings it to the latest form. */
type StandaloneCommand = ChangeDeclaration & {
  readonly runApart: (
    config: Config,
    words: readonly string[],
    options: OptionValues,
    going: Pick<CommandRuntime, 'progress'>,
  ) => Promise<unknown>
}

/** One operator command; its result is what it prints. */
export type Command = CommandSyntax & (DatabaseCommand | StandaloneCommand)

/** Commands of which those that are logged take a reason. */
export function withReasonOptions(commands: Readonly<Record<string, Command>>): Readonly<Record<string, Command>> {
  const withReasonOption = (command: Command): Command => {
    const { changes, options, required = {} } = command
    if (typeof changes === 'string' || 'reason' in required) return command
    return { ...command, options: { ...options, reason: ['text', 'why, for the operator log'] } }
  }
  return Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, withReasonOption(command)]))
}

/** The word at `place`; the operations parse what they are given, so a command only renames it. */
export function wordAt(words: readonly string[], place: number): string {
  return words[place] ?? ''
}

/** What names the thing that a command works on, where that is its first word. */
function firstWord(words: readonly string[]): string {
  return wordAt(words, 0)
}

/** The log's subject of a command that is done to what its first word names. */
export const subjectFromFirstWord: LoggedChange = { subject: firstWord }

/** The same of a pair, such as an asset and a currency. */
function firstTwoWords(words: readonly string[]): string {
  return `${wordAt(words, 0)} ${wordAt(words, 1)}`
}

/** The log's subject of a command about such a pair. */
export const subjectFromFirstTwoWords: LoggedChange = { subject: firstTwoWords }

/** The log's subject of a command that makes something of which an operation answers the id. */
export const subjectFromCreated: LoggedChange = {
  created: (made) => (made as IdempotentResult<{ id: string }>).result.id,
}

/** What an option lists, separated by commas. */
export function splitList(text: string | undefined): string[] | undefined {
  return text?.split(',').map((each) => each.trim())
}

/** How an operator types each field that a command's operation may find faulty. */
export function fieldNamesOf({ words = [], required = {}, options = {}, names = {} }: CommandSyntax): FieldNames {
  const typed = [
    ...words.map((each) => [each, `<${each}>`] as const),
    ...Object.keys({ ...required, ...options }).map((each) => [each, `--${each}`] as const),
  ]
  return { ...Object.fromEntries(typed.map(([name, text]) => [camelCase(name), text])), ...names }
}

function camelCase(name: string): string {
  return name.replace(/[ -]([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * A request in the name of the merchant that options name, or whose wallet or customer they name, or of the only one there is;
 * `null` where that is none or any of several.
 */
export async function findMerchantContext(
  service: Service,
  { merchant, wallet, customer }: OptionValues,
): Promise<Context | null> {
  if (merchant !== undefined) return createContext(service, (await findMerchant(service.db, merchant)).id)
  if (wallet !== undefined) return createOwnerContext(service, 'wallet', wallet)
  if (customer !== undefined) return createOwnerContext(service, 'customer', customer)
  const [only, ...others] = await allMerchants(service.db, {})
  return only !== undefined && others.length === 0 ? createContext(service, only.id) : null
}

/** The same for what is done for one merchant. @throws Refusal INVALID_INPUT where it must be named */
export async function requireMerchantContext(service: Service, options: OptionValues): Promise<Context> {
  const context = await findMerchantContext(service, options)
  if (context) return context
  const [any] = await allMerchants(service.db, {})
  const message = any ? 'is required, because there are several: merchant list shows them' : 'must be created first'
  throw invalidInput([{ field: '--merchant', code: 'MISSING_REQUIRED_FIELD', message }])
}

/** @throws Refusal INVALID_INPUT that names the option */
export function parseWholeNumber(option: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw invalidInput([{ field: `--${option}`, code: 'INVALID_FORMAT', message: 'must be a whole number' }])
}

/** Invented data must never meet a live merchant. */
export function requireSandboxFor(service: Service, command: string): Service {
  if (service.mode === 'sandbox') return service
  throw new DomainError('INVALID_INPUT', `The command ${command} exists in MODE=sandbox only.`)
}
