/** A schema of JSON Schema 2020-12, which is what OpenAPI 3.1 has, of the keywords that are used here. */
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
 * A field of an input: a sentence, or more of its schema besides; with its name on the wire, where that is not its own in snake
 * case, and with what makes the operation's value of what callers write, where that differs.
 */
export type RestInputField = string | RestInputFieldOptions
type RestInputFieldOptions = JsonSchema & {
  readonly description: string
  readonly name?: string
  readonly read?: (given: unknown) => unknown
  /** Whether a JSON number is taken too: the operation gets its text, digit by digit. */
  readonly acceptsNumber?: true
}

/** All fields of an input: one that is not among them, or among them and not in the input, does not compile. */
export type RestInputFields<Input> = { readonly [Field in keyof Required<Input>]: RestInputField }

/** What is said of an endpoint that the contract does not have. */
export const notInContract = 'It is an addition to the contract.'

/** The form of a field that takes an id. */
export const idField = (description: string) => ({ format: 'uuid', description })

/** The same where it may be empty, which means that it is left out. */
export const idOrEmptyField = (description: string) => ({
  anyOf: [{ type: 'string', format: 'uuid' }, { type: 'string', maxLength: 0 }, { type: 'null' }],
  description,
})
