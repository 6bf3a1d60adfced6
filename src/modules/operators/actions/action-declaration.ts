import type { FieldNames } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import type { Service } from '../../../operations/context.ts'

/** The values of the fields by name. A flag is set if it has a value; the items of a list are separated by commas. */
export type ActionValues = Readonly<Record<string, string | undefined>>

/** `name` is the field's name in the operation. */
export type ActionField = {
  readonly name: string
  /** The syntax in the command: `<word>`, `--option <noun>` or `--flag`. */
  readonly typed: string
  readonly help?: string
  /**
   * The label in the console's form. A field without a label either gets its value from the page or exists only in the
   * command.
   */
  readonly label?: string
  readonly hint?: string
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly isMultiple?: true
  /** Whether the value is a time. In the form, times are in UTC and have no time zone suffix. */
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
  /** The description of the command. The list of commands shows its first sentence. */
  readonly summary: string
  /** The description in the form, if it differs from the summary. */
  readonly formText?: string
  readonly fields: readonly ActionField[]
  /**
   * The fields that get their values from a row of the page. The form submits these values as one string, separated by
   * spaces.
   */
  readonly rowFields?: readonly string[]
  /** The fields that identify the action's object. */
  readonly subject: readonly string[]
  /** Whether the action moves money. If so, the command requires a reason in live. The form always requires one. */
  readonly movesMoney?: true
  /**
   * Whether no other action can undo this one. If so, the console asks for a confirmation, as for actions that move
   * money.
   */
  readonly isIrreversible?: true
  /** Whether the command requires a reason in the sandbox too. */
  readonly requiresReason?: true
  readonly reasonHint?: string
  /** Maps field names in the operation's errors to names in `fields`, where they differ. */
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
