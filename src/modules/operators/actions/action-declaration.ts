import type { FieldNames } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import type { Service } from '../../../operations/context.ts'

/** A flag is set if the flag's value is defined. A list is a string whose items are separated by commas. */
export type ActionValues = Readonly<Record<string, string | undefined>>

export type ActionField = {
  readonly name: string
  /** The syntax in the command is `<word>`, `--option <noun>` or `--flag`. */
  readonly typed: string
  readonly help?: string
  /** A field without a label is not an input of the form. */
  readonly label?: string
  readonly hint?: string
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly isMultiple?: true
  /** Times in the form are in UTC and have no time zone suffix. */
  readonly isTime?: true
  readonly isRequiredInForm?: true
}

export type ActionDeclaration = {
  readonly name: string
  /** `formName` is required if the console has several forms for the action. */
  readonly formName?: string
  readonly title: string
  /** The list of commands shows the first sentence of `summary`. */
  readonly summary: string
  readonly formText?: string
  readonly fields: readonly ActionField[]
  /** The form submits the values of a row as one string, separated by spaces. */
  readonly rowFields?: readonly string[]
  readonly subject: readonly string[]
  /**
   * If `movesMoney` is true, the command requires a reason in live mode. The console's form always requires a reason.
   */
  readonly movesMoney?: true
  /** The console asks for a confirmation if `isIrreversible` or `movesMoney` is true. */
  readonly isIrreversible?: true
  readonly requiresReason?: true
  readonly reasonHint?: string
  /** Maps names of the operation's input fields to names in `fields`, if the names differ. */
  readonly errorFields?: FieldNames
  /** The secret field of the action's result. The console shows the secret once. */
  readonly secret?: { readonly name: string; readonly field: string; readonly advice: string }
  /** `values` includes the `reason`. */
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
