import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The Node options of `npm start`, so benchmarks measure the real configuration. */
export const startOptions: readonly string[] = startScript().match(/--\S+/g) ?? []

function startScript(): string {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).scripts.start
}
