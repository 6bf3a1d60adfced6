import { readFileSync } from 'node:fs'

/** The version of the service that is installed. */
export function installedVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
