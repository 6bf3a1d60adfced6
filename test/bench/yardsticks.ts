import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const source = join(import.meta.dirname, 'yardsticks/graphql')

// In a folder below the project, to find its packages, but with a separate version of graphql, because most servers
// do not support the project's yet.
const folder = join(import.meta.dirname, '../../node_modules/.cache/payout-gateway-yardsticks')

let preparing: Promise<void> | null = null

/** The path of an executable program of `yardsticks/graphql`; installs its packages the first time. */
export async function yardstickPath(file: string): Promise<string> {
  preparing ??= prepare()
  await preparing
  return join(folder, file)
}

/** The versions of the yardsticks' packages, for the record. */
export function yardstickVersions(): Record<string, string> {
  return JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')).dependencies
}

async function prepare(): Promise<void> {
  const lockOf = (place: string) => readFileSync(join(place, 'package-lock.json'), 'utf8')
  const isInstalled = existsSync(join(folder, 'node_modules')) && lockOf(folder) === lockOf(source)
  mkdirSync(folder, { recursive: true })
  cpSync(source, folder, { recursive: true, filter: (path) => !path.includes(join(source, 'node_modules')) })
  if (isInstalled) return
  process.stderr.write('installing the GraphQL yardsticks …\n')
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
}
