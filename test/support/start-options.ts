import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What `npm start` gives Node beside the program: measured is what is run. */
export const startOptions: readonly string[] = startScript().match(/--\S+/g) ?? []

function startScript(): string {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).scripts.start
}
