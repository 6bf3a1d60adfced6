/** JSON Schema 2020-12, the dialect of OpenAPI 3.1, with the keywords that are used here. */
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
 * Describes an input field, by a description or more of its schema. `name` is its wire name, by default in snake case; `read`
 * converts the wire value to the operation's.
 */
export type RestInputField = string | RestInputFieldOptions
type RestInputFieldOptions = JsonSchema & {
  readonly description: string
  readonly name?: string
  readonly read?: (value: unknown) => unknown
  /** Accepts a JSON number too, and passes its literal text, so that no digit is lost. */
  readonly acceptsNumber?: true
}

/** Describes all fields of an input; a missing one does not compile. */
export type RestInputFields<Input> = { readonly [Field in keyof Required<Input>]: RestInputField }

export const notInContract = 'It is an addition to the contract.'

export const idField = (description: string) => ({ format: 'uuid', description })

/** An id that may be empty, which means that it is absent. */
export const idOrEmptyField = (description: string) => ({
  anyOf: [{ type: 'string', format: 'uuid' }, { type: 'string', maxLength: 0 }, { type: 'null' }],
  description,
})

const [maxIgnoredNames, maxNameLength] = [10, 40]

/** Stands for omitted names. */
const omittedNamesMark = '*'

const safeNamePattern = new RegExp(`^[\\w.-]{1,${maxNameLength}}$`)

/** Returns the value of `x-ignored-fields` (ruling 103): only letters, digits and `. _ -` get into the header. */
export function ignoredFieldsHeader(names: readonly string[]): string {
  const listed = names.filter((name) => safeNamePattern.test(name)).slice(0, maxIgnoredNames)
  return (listed.length < names.length ? [...listed, omittedNamesMark] : listed).join(', ')
}
