import type { FieldNames } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import type { Service } from '../../../operations/context.ts'

/** The values of an action's fields, by their names. A flag that is set has some text; a list is separated by commas. */
export type ActionValues = Readonly<Record<string, string | undefined>>

/** A field of an action; `name` is the operation's own. */
export type ActionField = {
  readonly name: string
  /** How the command takes it: `<word>`, `--option <noun>` or `--flag`. */
  readonly typed: string
  /** Explains the option in the command's help. */
  readonly help?: string
  /** Labels its control in the console's form. A field without one comes from the page, or only the command has it. */
  readonly label?: string
  readonly hint?: string
  readonly options?: readonly (readonly [value: string, text: string])[]
  /** Whether several of `options` can be chosen. */
  readonly isMultiple?: true
  /** Whether the form requires a value, although the command does not. */
  readonly isRequiredInForm?: true
}

/** An action of operators on an installation, from which the command and the form in the console derive. */
export type ActionDeclaration = {
  /** The name of the command, and of the action in the operator log. */
  readonly name: string
  /** Identifies the form, if the console has several forms for the action. */
  readonly formName?: string
  readonly title: string
  /** What it does. The list of commands shows the first sentence. */
  readonly summary: string
  /** Replaces the summary in the form. */
  readonly formText?: string
  readonly fields: readonly ActionField[]
  /** The fields whose values a row of a page has, separated by spaces. */
  readonly rowFields?: readonly string[]
  /** The fields that identify, in the operator log, what the action is about. */
  readonly subject: readonly string[]
  /** Whether money moves: in live the command then requires a reason. The form always does. */
  readonly movesMoney?: true
  /** Whether the command requires a reason in the sandbox too, because the operation stores it. */
  readonly requiresReason?: true
  readonly reasonHint?: string
  /** The names of fields in the operation's errors that differ from the names above. */
  readonly errorFields?: FieldNames
  /** The field of the result that is a secret, which the console shows once. */
  readonly secret?: { readonly name: string; readonly field: string; readonly advice: string }
  /** Calls the operation. The result is what the command prints; `values` includes the `reason`. */
  readonly run: (service: Service, values: ActionValues) => Promise<Readonly<Record<string, unknown>>>
}

/** The help of `--reason`. */
export const reasonHelp = ['text', 'why, for the operator log'] as const

export function splitList(text: string | undefined): string[] | undefined {
  return text?.split(',').map((each) => each.trim())
}

/** @throws DomainError INVALID_INPUT that names the field */
export function parseWholeNumber(field: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw invalidInput([{ field, code: 'INVALID_FORMAT', message: 'must be a whole number' }])
}
