import { userInfo } from 'node:os'
import type { Config, ProcessEnvironment } from '../app/config.ts'
import type { FieldNames } from '../core/errors.ts'
import { DomainError, invalidInput } from '../core/errors.ts'
import { createMerchantContext, findMerchant } from '../modules/merchants/merchant.ts'
import { allMerchants } from '../modules/merchants/repository.ts'
import type { ActionDeclaration, ActionField } from '../modules/operators/actions/action-declaration.ts'
import { reasonHelp } from '../modules/operators/actions/action-declaration.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import type { Actor } from '../modules/operators/record-action.ts'
import type { Context, IdempotentResult, Service } from '../operations/context.ts'
import type { TextColumns } from './format-text.ts'
import type { Progress } from './output.ts'

export type OptionHelp = string | readonly [noun: string, explanation: string]

export type OptionValues = Readonly<Record<string, string | undefined>>

export type CommandRuntime = {
  readonly report: (text: string, json: object) => void
  /**
   * Waits while the output buffer is full (backpressure).
   *
   * @throws Error if the reader has closed the output
   */
  readonly write: (text: string) => Promise<void>
  readonly signal: AbortSignal
  readonly rails: Config['rails']
  readonly console: Config['console']
  readonly progress: Progress
}

export type CommandSyntax = {
  /** The list of commands shows only the first sentence of the summary. */
  readonly summary: string
  readonly words?: readonly string[]
  readonly required?: Readonly<Record<string, OptionHelp>>
  readonly options?: Readonly<Record<string, OptionHelp>>
  readonly flags?: Readonly<Record<string, string>>
  readonly columns?: TextColumns
  /** Maps a field of the operation to the command's option or argument, if the names differ. */
  readonly names?: FieldNames
  readonly isLongRunning?: true
  readonly hasFailed?: (result: unknown) => boolean
}

export type LoggedChange = {
  /** In live mode, an operator must give a reason for a command that moves money. */
  readonly movesMoney?: true
} & (
  | {
      /** Returns `null` if the command with these options changes nothing. */
      readonly subject: (
        words: readonly string[],
        options: OptionValues,
        service: Service,
      ) => string | null | Promise<string | null>
    }
  | { readonly created: (result: unknown) => string }
)

/**
 * A command with `changes: 'nothing'` gets a read-only database. With `LoggedChange`, the transaction of the change
 * adds a row to the operator log. With `ownActions`, the command itself adds each action to the operator log.
 */
type ChangeDeclaration = { readonly changes: 'nothing' | 'ownActions' | LoggedChange }

type DatabaseCommand = ChangeDeclaration & {
  /** Returns `undefined` if the command has already written its result. */
  readonly run: (
    service: Service,
    words: readonly string[],
    options: OptionValues,
    runtime: CommandRuntime,
  ) => Promise<unknown>
  /** By default, a command fails if the database does not exist. */
  readonly databaseCreation?: 'inSandbox' | 'inAnyMode'
  readonly canBackUpFirst?: true
}

/** A standalone command gets no open database, for example because opening the database would migrate it. */
type StandaloneCommand = ChangeDeclaration & {
  readonly isWithoutDatabase?: true
  readonly runStandalone: (
    config: Config,
    words: readonly string[],
    options: OptionValues,
    runtime: Pick<CommandRuntime, 'progress'> & { readonly environment: ProcessEnvironment },
  ) => Promise<unknown>
}

export type Command = CommandSyntax & (DatabaseCommand | StandaloneCommand)

export type CommandTable = Readonly<Record<string, Command>>

export function actionCommands(...actions: readonly ActionDeclaration[]): CommandTable {
  return Object.fromEntries(actions.map((action) => [action.name, actionCommand(action)]))
}

export function actionCommand(action: ActionDeclaration): Command {
  const { summary, movesMoney, requiresReason, errorFields = {} } = action
  const fields = action.fields.map(parseTypedField)
  const wordFields = fields.filter(({ option }) => option === undefined)
  const optionFields = fields.filter(({ option, noun }) => option !== undefined && noun !== undefined)
  const flagFields = fields.filter(({ option, noun }) => option !== undefined && noun === undefined)
  const valuesOf = (words: readonly string[], options: OptionValues): OptionValues => ({
    ...Object.fromEntries(wordFields.map(({ name }, place) => [name, words[place]])),
    ...Object.fromEntries([...optionFields, ...flagFields].map(({ name, option = '' }) => [name, options[option]])),
    reason: options.reason,
  })
  const names = Object.fromEntries([...fields.map(({ name, typedName }) => [name, typedName]), ['reason', '--reason']])
  return {
    changes: {
      ...(movesMoney && { movesMoney }),
      subject: (words, options) => action.subject.map((name) => valuesOf(words, options)[name] ?? '').join(' '),
    },
    summary,
    words: wordFields.map(({ noun = '' }) => noun),
    ...(requiresReason && { required: { reason: reasonHelp } }),
    options: Object.fromEntries(
      optionFields.map(({ option, noun = '', help }) => [option, help === undefined ? noun : [noun, help]]),
    ),
    flags: Object.fromEntries(flagFields.map(({ option, help = '' }) => [option, help])),
    names: {
      ...Object.fromEntries(Object.entries(errorFields).map(([field, name]) => [field, names[name] ?? name])),
      ...names,
    },
    run: (service, words, options) => action.run(service, valuesOf(words, options)),
  }
}

function parseTypedField({ name, typed, help }: ActionField) {
  const [, option, noun] = /^(?:--([\w-]+))? ?(?:<(.+)>)?$/.exec(typed) ?? []
  return { name, help, option, noun, typedName: option === undefined ? typed : `--${option}` }
}

export function withReasonOptions(commands: CommandTable): CommandTable {
  const withReasonOption = (command: Command): Command => {
    const { changes, options, required = {} } = command
    if (typeof changes === 'string' || 'reason' in required) return command
    return { ...command, options: { ...options, reason: reasonHelp } }
  }
  return Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, withReasonOption(command)]))
}

export function wordAt(words: readonly string[], place: number): string {
  return words[place] ?? ''
}

export const subjectFromFirstWord: LoggedChange = { subject: (words) => wordAt(words, 0) }

export const subjectFromCreated: LoggedChange = {
  created: (created) => (created as IdempotentResult<{ id: string }>).result.id,
}

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
 * Without the options `--merchant`, `--wallet` and `--customer`, returns the only merchant of the database. Returns
 * `null` if the database has no merchant or several merchants.
 */
export async function findMerchantContext(
  service: Service,
  { merchant, wallet, customer }: OptionValues,
): Promise<Context | null> {
  if (merchant !== undefined) return createMerchantContext(service, (await findMerchant(service.db, merchant)).id)
  if (wallet !== undefined) return createOwnerContext(service, 'wallet', wallet)
  if (customer !== undefined) return createOwnerContext(service, 'customer', customer)
  const [only, ...others] = await allMerchants(service.db, {})
  return only !== undefined && others.length === 0 ? createMerchantContext(service, only.id) : null
}

/** @throws DomainError INVALID_INPUT if the options must specify the merchant */
export async function requireMerchantContext(service: Service, options: OptionValues): Promise<Context> {
  const context = await findMerchantContext(service, options)
  if (context) return context
  const [any] = await allMerchants(service.db, {})
  const message = any
    ? 'is required, because there are several: merchant list shows them'
    : 'cannot be found, because there is none: run merchant create'
  throw invalidInput([{ field: '--merchant', code: 'MISSING_REQUIRED_FIELD', message }])
}

export function requireSandboxFor(service: Service, command: string): Service {
  if (service.mode === 'sandbox') return service
  throw new DomainError('INVALID_INPUT', `The command ${command} exists in MODE=sandbox only.`)
}

export function currentActor(session: string): Actor {
  return { operator: userName(), session }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In a container, the user of the process may have no name.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
