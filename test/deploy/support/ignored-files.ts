import { readdirSync, statSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'

/**
 * Returns the files of the build context at `source` in `folder`, as paths relative to `folder`.
 *
 * @param ignore the text of `.dockerignore`: the last line that matches a file or one of its folders decides
 * @throws if no file is left, as the builder would
 */
export function contextFiles(folder: string, source: string, ignore: string): string[] {
  const rules = rulesOf(ignore)
  const isFile = statSync(join(folder, source)).isFile()
  const all = isFile ? [source] : filesBelow(folder, source)
  const given = all.filter((path) => !isIgnored(path, rules))
  if (given.length === 0) throw new Error(`.dockerignore leaves nothing of ${source}`)
  return given
}

type Rule = { readonly pattern: string; readonly keeps: boolean }

function rulesOf(ignore: string): Rule[] {
  const lines = ignore.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ pattern: line.replace(/^!/, '').replace(/\/$/, ''), keeps: line.startsWith('!') }))
}

/** Returns whether the last rule that matches `path`, or one of its folders, excludes it. */
export function isIgnored(path: string, rules: readonly Rule[] | string): boolean {
  const parts = path.split('/')
  const places = parts.map((_, i) => parts.slice(0, i + 1).join('/'))
  const read = typeof rules === 'string' ? rulesOf(rules) : rules
  const last = read.findLast(({ pattern }) => places.some((place) => fits(place, pattern)))
  return last !== undefined && !last.keeps
}

/** Unlike in a shell, a star of `.dockerignore` matches names that start with a dot. */
function fits(path: string, pattern: string): boolean {
  const undotted = (text: string) => text.replaceAll(/(^|\/)\./g, '$1_')
  return matchesGlob(undotted(path), undotted(pattern))
}

function filesBelow(folder: string, source: string): string[] {
  return readdirSync(join(folder, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}
