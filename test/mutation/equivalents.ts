import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { MutantResult } from '@stryker-mutator/api/core'

const root = join(import.meta.dirname, '..', '..')

/** A fault that changes nothing a caller can observe: the file, the line that it is in, what it puts there, and why. */
type Equivalent = { readonly file: string; readonly line: string; readonly mutant: string; readonly reason: string }

/** The equivalent mutants of a module, as `equivalents/<module>.json` lists them. */
export function equivalentsOf(module: string): { readonly has: (mutant: MutantResult) => boolean } {
  const path = join(import.meta.dirname, 'equivalents', `${module}.json`)
  const listed = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Equivalent[]) : []
  const keys = new Set(listed.map(({ file, line, mutant }) => keyOf(file, line, mutant)))
  return { has: (mutant) => keys.has(keyOf(relative(root, mutant.fileName), lineOf(mutant), mutant.replacement)) }
}

function keyOf(file: string, line: string, mutant: string): string {
  return [file, line.trim(), mutant.replaceAll(/\s+/g, ' ')].join('\n')
}

function lineOf({ fileName, location }: MutantResult): string {
  return readFileSync(fileName, 'utf8').split('\n')[location.start.line - 1] ?? ''
}
