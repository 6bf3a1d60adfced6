import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/** An error contains the number of an invalid line, but not the text, because the text may contain a secret. */
export type EnvFile = { readonly variables: Readonly<Record<string, string>>; readonly errors: readonly string[] }

export const noEnvFile: EnvFile = { variables: {}, errors: [] }

export function readEnvFile(folder: string): EnvFile {
  const path = join(folder, '.env')
  try {
    // Some editors write a byte order mark, which Node.js would parse as part of the first variable's name.
    const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
    const errors = findFaultyLines(text).map((fault) => `${path}: ${fault}`)
    return { variables: parseEnv(text) as Record<string, string>, errors }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? noEnvFile : { variables: {}, errors: [`${path} is not readable: ${message}`] }
  }
}

/** Sets the variables that the environment lacks, and returns the names of these variables. */
export function applyEnvFile(environment: NodeJS.ProcessEnv, { variables }: EnvFile): ReadonlySet<string> {
  const missing = Object.entries(variables).filter(([name]) => (environment[name] ?? '') === '')
  for (const [name, value] of missing) environment[name] = value
  return new Set(missing.map(([name]) => name))
}

/** Finds the invalid lines of `.env`, because Node.js silently skips invalid lines. */
function findFaultyLines(text: string): string[] {
  const faults: string[] = []
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const line = (lines[i] ?? '').trim()
    if (line === '' || line.startsWith('#')) continue
    const [, value] = /^(?:export\s+)?[A-Za-z_]\w*\s*=\s*(.*)$/.exec(line) ?? []
    if (value === undefined) faults.push(`line ${i + 1} must be NAME=value`)
    const quote = /^["'`]/.exec(value ?? '')?.[0]
    if (value === undefined || quote === undefined || value.indexOf(quote, 1) > 0) continue
    const end = lines.findIndex((each, place) => place > i && each.includes(quote))
    if (end < 0) faults.push(`line ${i + 1} opens a quote that is not closed`)
    else i = end
  }
  return faults
}
