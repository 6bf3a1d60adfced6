import type { EnumRef } from '@pothos/core'
import type { Types } from './builder.ts'

type AnyEnum = EnumRef<Types, string>

const enums = new Map<readonly string[], AnyEnum>()

/** Says that an enum type stands for these values, wherever a declaration names them. */
export function enumOfValues<Enum>(values: readonly string[], type: Enum): Enum {
  enums.set(values, type as AnyEnum)
  return type
}

/** The enum type of these values. */
export function enumOf(values: readonly string[]): AnyEnum {
  const found = enums.get(values)
  if (!found) throw new Error(`no enum type stands for ${values.join(', ')}`)
  return found
}
