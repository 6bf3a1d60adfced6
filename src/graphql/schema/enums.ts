import type { EnumRef } from '@pothos/core'
import { enumDescription } from '../../core/api/enum-descriptions.ts'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'

type AnyEnum = EnumRef<SchemaTypes, string>

const enumTypes = new Map<readonly string[], AnyEnum>()

/** `enumTypeOf` finds an enum type by its array of values, so callers must pass the same array object. */
export function enumType<Value extends string>(name: string, values: readonly Value[], description: string) {
  const descriptions = Object.fromEntries(values.map((value) => [value, enumDescription(values, value)]))
  const type = describedEnumType(name, description, descriptions as Record<Value, string>)
  enumTypes.set(values, type as unknown as AnyEnum)
  return type
}

export function describedEnumType<Value extends string>(
  name: string,
  description: string,
  descriptions: Readonly<Record<Value, string>>,
) {
  const members = Object.entries<string>(descriptions).map(([value, valueDescription]) => [
    value.toUpperCase().replace(/[ .]/g, '_'),
    { value: value as Value, description: valueDescription },
  ])
  const values = Object.fromEntries(members) as Record<string, { value: Value; description: string }>
  return builder.enumType(name, { description, values })
}

export function enumTypeOf(values: readonly string[]): AnyEnum {
  const type = enumTypes.get(values)
  if (!type) throw new Error(`no enum type is declared for ${values.join(', ')}`)
  return type
}
