import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { MutantResult } from '@stryker-mutator/api/core'

const root = join(import.meta.dirname, '..', '..')

/** A mutant that no caller can observe: its file, the text of its line, its replacement, and the reason. */
export type EquivalentMutant = {
  readonly file: string
  readonly line: string
  readonly mutant: string
  readonly reason: string
}

/**
 * Filters out the equivalent mutants listed in `equivalents/<module>.json`. Each entry counts once, because two mutants of one line
 * may differ in their column only.
 */
export function withoutEquivalents(module: string, mutants: readonly MutantResult[]): MutantResult[] {
  const path = join(import.meta.dirname, 'equivalents', `${module}.json`)
  const listed = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as EquivalentMutant[]) : []
  const keys = listed.map(({ file, line, mutant }) => keyOf(file, line, mutant))
  return mutants.filter((mutant) => {
    const place = keys.indexOf(keyOf(relative(root, mutant.fileName), lineOf(mutant), mutant.replacement))
    if (place >= 0) keys.splice(place, 1)
    return place < 0
  })
}

function keyOf(file: string, line: string, mutant: string): string {
  return [file, line.trim(), mutant.replaceAll(/\s+/g, ' ')].join('\n')
}

function lineOf({ fileName, location }: MutantResult): string {
  return readFileSync(fileName, 'utf8').split('\n')[location.start.line - 1] ?? ''
}
