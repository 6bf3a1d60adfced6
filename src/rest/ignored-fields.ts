/** Names that the header has at most, and how long one may be: it is for people who look for a field that has no effect. */
const [maxNames, maxLength] = [10, 40]

/** Stands for all names that are not told: a body may have thousands, and in one there may be anything. */
const omittedNamesMark = '*'

const safeNamePattern = new RegExp(`^[\\w.-]{1,${maxLength}}$`)

/** The value of `x-ignored-fields` (ruling 103): names of letters, digits and `. _ -` only, so that nothing else gets into a header. */
export function ignoredFieldsHeader(names: readonly string[]): string {
  const told = names.filter((name) => safeNamePattern.test(name)).slice(0, maxNames)
  return (told.length < names.length ? [...told, omittedNamesMark] : told).join(', ')
}
