const descriptionsByEnum = new WeakMap<readonly string[], Readonly<Record<string, string>>>()

export function defineEnum<const Value extends string>(
  described: { readonly [Each in Value]: string },
): readonly Value[] {
  const values = Object.keys(described) as Value[]
  descriptionsByEnum.set(values, described)
  return values
}

export function enumDescription(values: readonly string[], value: string): string {
  const description = descriptionsByEnum.get(values)?.[value]
  if (description === undefined) throw new Error(`The enum value ${value} has no description`)
  return description
}
