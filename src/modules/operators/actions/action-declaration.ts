import type { FieldNames } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import type { Service } from '../../../operations/context.ts'

/** A flag that is set has any text; a list is separated by commas. */
export type ActionValues = Readonly<Record<string, string | undefined>>

/** `name` is that of the operation's field. */
export type ActionField = {
  readonly name: string
  /** `<word>`, `--option <noun>` or `--flag`. */
  readonly typed: string
  readonly help?: string
  /** In the console's form. A field without a label is provided by the page, or exists only in the command. */
  readonly label?: string
  readonly hint?: string
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly isMultiple?: true
  /** The form takes a time in UTC without its zone. */
  readonly isTime?: true
  /** The command does not require it. */
  readonly isRequiredInForm?: true
}

/** The command and the console's form derive from it. */
export type ActionDeclaration = {
  /** Of the command, and of the action in the operator log. */
  readonly name: string
  /** If the console has several forms for the action. */
  readonly formName?: string
  readonly title: string
  /** The list of commands shows the first sentence. */
  readonly summary: string
  /** Replaces the summary in the form. */
  readonly formText?: string
  readonly fields: readonly ActionField[]
  /** Separated by spaces: the fields whose values are in a row of a page. */
  readonly rowFields?: readonly string[]
  /** They identify the action's object. */
  readonly subject: readonly string[]
  /** If so, the command requires a reason in live. The form always requires one. */
  readonly movesMoney?: true
  /** The command requires a reason in the sandbox too. */
  readonly requiresReason?: true
  readonly reasonHint?: string
  /** The names that differ from those in `fields`. */
  readonly errorFields?: FieldNames
  /** The console shows it once. */
  readonly secret?: { readonly name: string; readonly field: string; readonly advice: string }
  /** Returns what the command prints. `values` includes the `reason`. */
  readonly run: (service: Service, values: ActionValues) => Promise<Readonly<Record<string, unknown>>>
}

export const reasonHelp = ['text', 'why, for the operator log'] as const

export function splitList(text: string | undefined): string[] | undefined {
  return text?.split(',').map((each) => each.trim())
}

export function parseWholeNumber(field: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw invalidInput([{ field, code: 'INVALID_FORMAT', message: 'must be a whole number' }])
}
