/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly examples?: readonly unknown[]
}

/**
 * If a REST field is a string, the string is the field's description. `name` defaults to the field's name in snake
 * case. `read` converts the value in the request to the operation's value.
 */
export type RestInputField = string | RestInputFieldOptions
type RestInputFieldOptions = JsonSchema & {
  readonly description: string
  readonly name?: string
  readonly read?: (value: unknown) => unknown
  /** The field also accepts a JSON number. The operation receives the number's text, so that no digit is lost. */
  readonly acceptsNumber?: true
}

export type RestInputFields<Input> = { readonly [Field in keyof Required<Input>]: RestInputField }

export const notInContract = 'It is an addition to the contract.'

export const idField = (description: string) => ({ format: 'uuid', description })

/** An empty id counts as absent. */
export const idOrEmptyField = (description: string) => ({
  anyOf: [{ type: 'string', format: 'uuid' }, { type: 'string', maxLength: 0 }, { type: 'null' }],
  description,
})

const [maxIgnoredNames, maxNameLength] = [10, 40]

const omittedNamesMark = '*'

const safeNamePattern = new RegExp(`^[\\w.-]{1,${maxNameLength}}$`)

/** Lists only ignored fields whose names consist of letters, digits, `.`, `_` and `-` (ruling 103). */
export function ignoredFieldsHeader(names: readonly string[]): string {
  const listed = names.filter((name) => safeNamePattern.test(name)).slice(0, maxIgnoredNames)
  return (listed.length < names.length ? [...listed, omittedNamesMark] : listed).join(', ')
}
