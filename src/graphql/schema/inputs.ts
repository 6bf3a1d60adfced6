import type { ArgBuilder, InputObjectRef, InputShapeFromTypeParam, InputTypeParam } from '@pothos/core'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import { localId } from './global-ids.ts'

/** A field of an input, or an argument: what it takes, what it is for, and of which type's nodes it is an id. */
export type InputField<
  Type extends InputTypeParam<Types> = InputTypeParam<Types>,
  IsRequired extends boolean = boolean,
> = {
  readonly type: Type
  readonly isRequired: IsRequired
  readonly description: string
  readonly idOf?: string
  readonly deprecationReason?: string
}

export type InputFields = Readonly<Record<string, InputField>>

/** What is given for such fields. */
export type InputOf<Fields extends InputFields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends InputField<infer Type, infer IsRequired>
    ? InputShapeFromTypeParam<Types, Type, IsRequired>
    : never
}

/** A field that may be absent or null; of text unless it says otherwise. */
export function optional(description: string): InputField<'String', false>
export function optional<Type extends InputTypeParam<Types>>(description: string, type: Type): InputField<Type, false>
export function optional(description: string, type: InputTypeParam<Types> = 'String'): InputField {
  return { type, isRequired: false, description }
}

/** A field that must be there. */
export function required(description: string): InputField<'String', true>
export function required<Type extends InputTypeParam<Types>>(description: string, type: Type): InputField<Type, true>
export function required(description: string, type: InputTypeParam<Types> = 'String'): InputField {
  return { type, isRequired: true, description }
}

/** Text fields that may be absent, each with its description. */
export function optionalTexts<Name extends string>(descriptions: { readonly [Each in Name]: string }) {
  return eachOf(descriptions, (description) => optional(description))
}

/** The same where each must be there. */
export function requiredTexts<Name extends string>(descriptions: { readonly [Each in Name]: string }) {
  return eachOf(descriptions, (description) => required(description))
}

/** An id of a node of this type, global or a UUID, which is the local one for whoever takes the input. */
export function requiredId(idOf: string, noun = wordsOf(idOf)) {
  return { ...required(theId(noun), 'ID'), idOf } as const
}

/** The same where it may be absent. */
export function optionalId(idOf: string, description = theId(wordsOf(idOf))) {
  return { ...optional(description, 'ID'), idOf } as const
}

/** The same for several. */
export function optionalIds(idOf: string, description: string) {
  return { ...optional<['ID']>(description, ['ID']), idOf } as const
}

/** What people call the nodes of a type: `payout method`. */
export function wordsOf(type: string): string {
  return type.replace(/\B[A-Z]/g, ' $&').toLowerCase()
}

function theId(noun: string): string {
  return `The ${noun}: its global id, or its UUID.`
}

/** Something of each of several members. */
export function eachOf<Name extends string, From, To>(
  members: { readonly [Each in Name]: From },
  make: (member: From, name: Name) => To,
): { readonly [Each in Name]: To } {
  const made = Object.entries<From>(members).map(([name, member]) => [name, make(member, name as Name)])
  return Object.fromEntries(made)
}

/** An input type that knows its fields. */
export type DeclaredInput<Fields extends InputFields> = InputObjectRef<Types, InputOf<Fields>> & {
  readonly declared: Fields
}

/** Declares an input type; of one that `isOneOf` exactly one field is given. */
export function inputType<Fields extends InputFields>(
  name: string,
  description: string,
  fields: Fields,
  { isOneOf = false } = {},
): DeclaredInput<Fields> {
  const type = builder.inputType(name, {
    description,
    ...(isOneOf && { isOneOf }),
    fields: (t) => eachOf(fields, (field) => t.field(optionsOf(field))),
  })
  return Object.assign(type, { declared: fields }) as never
}

/** Declared fields as the arguments of one that `t` builds. */
export function argumentsOf({ arg }: { readonly arg: ArgBuilder<Types> }, fields: InputFields) {
  return eachOf(fields, (field) => arg(optionsOf(field)))
}

function optionsOf({ type, isRequired, description, deprecationReason }: InputField) {
  return { type, required: isRequired, description, ...(deprecationReason !== undefined && { deprecationReason }) }
}

/** An input as operations take it: with local ids wherever its fields, or those of inputs in it, are global ones. */
export function withLocalIds<Input extends object>(fields: InputFields, input: Input): Input {
  const holders = idHoldersOf(fields)
  if (holders.length === 0) return input
  const local = { ...input } as Record<string, unknown>
  for (const [name, field] of holders) if (local[name]) local[name] = localValue(field, local[name])
  return local as Input
}

function localValue(field: InputField, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => each && localValue(field, each))
  if (field.idOf !== undefined) return localId(field.idOf, value as string)
  return withLocalIds(fieldsWithin(field) ?? {}, value as object)
}

type Holder = readonly [name: string, field: InputField]

const idHolders = new WeakMap<InputFields, readonly Holder[]>()

/** The fields that hold ids, or inputs in which some do. */
function idHoldersOf(fields: InputFields): readonly Holder[] {
  const known = idHolders.get(fields)
  if (known) return known
  const holders = Object.entries(fields).filter(([, field]) => {
    const within = fieldsWithin(field)
    return field.idOf !== undefined || (within !== null && idHoldersOf(within).length > 0)
  })
  idHolders.set(fields, holders)
  return holders
}

/** The fields of an input's own type; `null` where it is no input object. */
function fieldsWithin({ type }: InputField): InputFields | null {
  const { declared = null } = (Array.isArray(type) ? type[0] : type) as Partial<DeclaredInput<InputFields>>
  return declared
}
