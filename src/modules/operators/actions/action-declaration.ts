import type { FieldNames } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import type { Service } from '../../../operations/context.ts'

/** The values of fields by name. A flag that is set has any text; a list is separated by commas. */
export type ActionValues = Readonly<Record<string, string | undefined>>

/** `name` is the field's name in the operation. */
export type ActionField = {
  readonly name: string
  /** The syntax in the command: `<word>`, `--option <noun>` or `--flag`. */
  readonly typed: string
  readonly help?: string
  /**
   * The label in the console's form. A field without a label is provided by the page, or exists only in the command.
   */
  readonly label?: string
  readonly hint?: string
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly isMultiple?: true
  /** Whether the value is a time, which the form takes in UTC without its zone. */
  readonly isTime?: true
  /** Whether the form requires a value, although the command does not. */
  readonly isRequiredInForm?: true
}

/** An action of operators. The command and the console's form derive from it. */
export type ActionDeclaration = {
  /** The name of the command, and of the action in the operator log. */
  readonly name: string
  /** Identifies the form, if the console has several forms for the action. */
  readonly formName?: string
  readonly title: string
  /** The list of commands shows the first sentence. */
  readonly summary: string
  /** Replaces the summary in the form. */
  readonly formText?: string
  readonly fields: readonly ActionField[]
  /** The fields whose values are in a row of a page, separated by spaces. */
  readonly rowFields?: readonly string[]
  /** The fields that identify the action's object. */
  readonly subject: readonly string[]
  /** Whether the action moves money. If so, the command requires a reason in live. The form always requires one. */
  readonly movesMoney?: true
  /** Whether no other action undoes it. The console asks for a confirmation, as it does before money moves. */
  readonly isIrreversible?: true
  /** Whether the command requires a reason in the sandbox too. */
  readonly requiresReason?: true
  readonly reasonHint?: string
  /** Names in the operation's errors that differ from those in `fields`. */
  readonly errorFields?: FieldNames
  /** A secret field of the result. The console shows it once. */
  readonly secret?: { readonly name: string; readonly field: string; readonly advice: string }
  /** Calls the operation, and returns what the command prints. `values` includes the `reason`. */
  readonly run: (service: Service, values: ActionValues) => Promise<Readonly<Record<string, unknown>>>
}

export const reasonHelp = ['text', 'why, for the operator log'] as const

export function splitList(text: string | undefined): string[] | undefined {
  return text?.split(',').map((each) => each.trim())
}

/** @throws DomainError INVALID_INPUT with the field */
export function parseWholeNumber(field: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw invalidInput([{ field, code: 'INVALID_FORMAT', message: 'must be a whole number' }])
}
