const descriptionsByEnum = new WeakMap<readonly string[], Readonly<Record<string, string>>>()

/** Values that a field may hold, in this order, each with a sentence for its readers. */
export function defineEnum<const Value extends string>(
  described: { readonly [Each in Value]: string },
): readonly Value[] {
  const values = Object.keys(described) as Value[]
  descriptionsByEnum.set(values, described)
  return values
}

/** What a value means, in a sentence. */
export function enumDescription(values: readonly string[], value: string): string {
  const meaning = descriptionsByEnum.get(values)?.[value]
  if (meaning === undefined) throw new Error(`nothing is said of what ${value} means`)
  return meaning
}
