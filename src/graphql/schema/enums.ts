import type { EnumRef } from '@pothos/core'
import { enumDescription } from '../../core/api/enum-descriptions.ts'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'

type AnyEnum = EnumRef<SchemaTypes, string>

const enumTypes = new Map<readonly string[], AnyEnum>()

/** The enum type of described values, in capital letters; wherever a declaration names these values it is this type. */
export function enumType<Value extends string>(name: string, values: readonly Value[], description: string) {
  const meanings = Object.fromEntries(values.map((value) => [value, enumDescription(values, value)]))
  const type = describedEnumType(name, description, meanings as Record<Value, string>)
  enumTypes.set(values, type as unknown as AnyEnum)
  return type
}

/** The enum type of values with their meanings. */
export function describedEnumType<Value extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<Value, string>>,
) {
  const members = Object.entries<string>(meanings).map(([value, meaning]) => [
    value.toUpperCase().replace(/[ .]/g, '_'),
    { value: value as Value, description: meaning },
  ])
  const values = Object.fromEntries(members) as Record<string, { value: Value; description: string }>
  return builder.enumType(name, { description, values })
}

/** The enum type of these values. */
export function enumTypeOf(values: readonly string[]): AnyEnum {
  const found = enumTypes.get(values)
  if (!found) throw new Error(`no enum type stands for ${values.join(', ')}`)
  return found
}
