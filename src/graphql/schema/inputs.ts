import type { ArgBuilder, InputObjectRef, InputShapeFromTypeParam, InputTypeParam } from '@pothos/core'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import { localId } from './global-ids.ts'

/** If the field is an id, `idOf` is the type of the node. */
export type GraphqlInputField<
  Type extends InputTypeParam<SchemaTypes> = InputTypeParam<SchemaTypes>,
  IsRequired extends boolean = boolean,
> = {
  readonly type: Type
  readonly isRequired: IsRequired
  readonly description: string
  readonly idOf?: string
  readonly deprecationReason?: string
}

export type GraphqlInputFields = Readonly<Record<string, GraphqlInputField>>

export type InputOf<Fields extends GraphqlInputFields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends GraphqlInputField<infer Type, infer IsRequired>
    ? InputShapeFromTypeParam<SchemaTypes, Type, IsRequired>
    : never
}

export function optional(description: string): GraphqlInputField<'String', false>
export function optional<Type extends InputTypeParam<SchemaTypes>>(
  description: string,
  type: Type,
): GraphqlInputField<Type, false>
export function optional(description: string, type: InputTypeParam<SchemaTypes> = 'String'): GraphqlInputField {
  return { type, isRequired: false, description }
}

export function required(description: string): GraphqlInputField<'String', true>
export function required<Type extends InputTypeParam<SchemaTypes>>(
  description: string,
  type: Type,
): GraphqlInputField<Type, true>
export function required(description: string, type: InputTypeParam<SchemaTypes> = 'String'): GraphqlInputField {
  return { type, isRequired: true, description }
}

export function optionalTexts<Name extends string>(descriptions: { readonly [Each in Name]: string }) {
  return mapValues(descriptions, (description) => optional(description))
}

export function requiredTexts<Name extends string>(descriptions: { readonly [Each in Name]: string }) {
  return mapValues(descriptions, (description) => required(description))
}

export function requiredId(idOf: string, noun = humanizeTypeName(idOf)) {
  return { ...required(describeIdOf(noun), 'ID'), idOf } as const
}

export function optionalId(idOf: string, description = describeIdOf(humanizeTypeName(idOf))) {
  return { ...optional(description, 'ID'), idOf } as const
}

export function optionalIds(idOf: string, description: string) {
  return { ...optional<['ID']>(description, ['ID']), idOf } as const
}

export function humanizeTypeName(type: string): string {
  return type.replace(/\B[A-Z]/g, ' $&').toLowerCase()
}

function describeIdOf(noun: string): string {
  return `The ${noun}: its global id, or its UUID.`
}

export function mapValues<Name extends string, From, To>(
  members: { readonly [Each in Name]: From },
  mapValue: (member: From, name: Name) => To,
): { readonly [Each in Name]: To } {
  const mapped = Object.entries<From>(members).map(([name, member]) => [name, mapValue(member, name as Name)])
  return Object.fromEntries(mapped)
}

export type DeclaredInput<Fields extends GraphqlInputFields> = InputObjectRef<SchemaTypes, InputOf<Fields>> & {
  readonly declared: Fields
}

export function inputType<Fields extends GraphqlInputFields>(
  name: string,
  description: string,
  fields: Fields,
  { isOneOf = false } = {},
): DeclaredInput<Fields> {
  const type = builder.inputType(name, {
    description,
    ...(isOneOf && { isOneOf }),
    fields: (t) => mapValues(fields, (field) => t.field(toPothosOptions(field))),
  })
  return Object.assign(type, { declared: fields }) as never
}

export function argumentsOf({ arg }: { readonly arg: ArgBuilder<SchemaTypes> }, fields: GraphqlInputFields) {
  return mapValues(fields, (field) => arg(toPothosOptions(field)))
}

function toPothosOptions({ type, isRequired, description, deprecationReason }: GraphqlInputField) {
  return { type, required: isRequired, description, ...(deprecationReason !== undefined && { deprecationReason }) }
}

/** Converts global ids to local ids, also in nested inputs. */
export function withLocalIds<Input extends object>(fields: GraphqlInputFields, input: Input): Input {
  const holders = idHoldersOf(fields)
  if (holders.length === 0) return input
  const local = { ...input } as Record<string, unknown>
  for (const [name, field] of holders) if (local[name]) local[name] = toLocalValue(field, local[name])
  return local as Input
}

function toLocalValue(field: GraphqlInputField, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => each && toLocalValue(field, each))
  if (field.idOf !== undefined) return localId(field.idOf, value as string)
  return withLocalIds(nestedFieldsOf(field) ?? {}, value as object)
}

type IdHolder = readonly [name: string, field: GraphqlInputField]

const idHolders = new WeakMap<GraphqlInputFields, readonly IdHolder[]>()

function idHoldersOf(fields: GraphqlInputFields): readonly IdHolder[] {
  const known = idHolders.get(fields)
  if (known) return known
  const holders = Object.entries(fields).filter(([, field]) => {
    const nested = nestedFieldsOf(field)
    return field.idOf !== undefined || (nested !== null && idHoldersOf(nested).length > 0)
  })
  idHolders.set(fields, holders)
  return holders
}

function nestedFieldsOf({ type }: GraphqlInputField): GraphqlInputFields | null {
  const { declared = null } = (Array.isArray(type) ? type[0] : type) as Partial<DeclaredInput<GraphqlInputFields>>
  return declared
}
