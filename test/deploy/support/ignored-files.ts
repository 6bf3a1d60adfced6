import { readdirSync, statSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'

/**
 * What the builder is given of a file or folder `source` of `folder`, as paths of files from there.
 *
 * @param ignore the text of `.dockerignore`: the last line that fits a file or a folder that it is in decides
 * @throws where nothing is left of it, as the builder would
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

/** Whether the last rule that fits `path`, or one of the folders that it is in, leaves it out. */
export function isIgnored(path: string, rules: readonly Rule[] | string): boolean {
  const parts = path.split('/')
  const places = parts.map((_, i) => parts.slice(0, i + 1).join('/'))
  const read = typeof rules === 'string' ? rulesOf(rules) : rules
  const last = read.findLast(({ pattern }) => places.some((place) => fits(place, pattern)))
  return last !== undefined && !last.keeps
}

/** Unlike a shell's, a star of Docker's fits names that begin with a dot. */
function fits(path: string, pattern: string): boolean {
  const undotted = (text: string) => text.replaceAll(/(^|\/)\./g, '$1_')
  return matchesGlob(undotted(path), undotted(pattern))
}

function filesBelow(folder: string, source: string): string[] {
  return readdirSync(join(folder, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}
