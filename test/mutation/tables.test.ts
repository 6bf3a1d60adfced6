import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EquivalentMutant } from './equivalents.ts'
import { modules } from './modules.ts'

const root = join(import.meta.dirname, '../..')

/** Expands `{a,b}`, because a glob with several names matches if only one of them exists. */
function expandBraces(glob: string): string[] {
  const [group, names] = /\{([^{}]*)\}/.exec(glob) ?? []
  if (group === undefined || names === undefined) return [glob]
  return names.split(',').flatMap((name) => expandBraces(glob.replace(group, name)))
}

test('every source and every test that mutation testing lists exists', () => {
  const globs = modules.flatMap(({ source, tests }) => [...source, ...tests].flatMap(expandBraces))

  expect(globs.length).toBeGreaterThan(50)
  expect(globs.filter((glob) => globSync(glob, { cwd: root }).length === 0)).toEqual([])
})

test('every listed equivalent mutant refers to a line that exists in its source file', () => {
  const entries = globSync(join(import.meta.dirname, 'equivalents/*.json')).flatMap((path): EquivalentMutant[] =>
    JSON.parse(readFileSync(path, 'utf8')),
  )
  const stale = entries.filter(({ file, line }) => {
    const path = join(root, file)
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
    return !lines.some((each) => each.trim() === line.trim())
  })

  expect(entries.length).toBeGreaterThan(100)
  expect(stale).toEqual([])
})
