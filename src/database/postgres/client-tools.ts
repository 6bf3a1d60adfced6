import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerTarget } from './connection-url.ts'

/** The programs of PostgreSQL's client that copy a database and read a copy. */
export type ClientTool = 'pg_dump' | 'pg_restore'

/**
 * Runs `pg_dump` or `pg_restore`, as `PATH` finds it, and waits for its end.
 *
 * @param onOutput called with each part of its standard output
 * @throws Error that says what the program said
 */
export async function runTool(
  tool: ClientTool,
  args: readonly string[],
  onOutput: (bytes: Buffer) => void = () => {},
): Promise<void> {
  const child = spawn(tool, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2_000)
  })
  child.stdout.on('data', onOutput)
  const code = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ENOENT' ? toolNotFound(tool) : error))
    child.once('close', (code, signal) => resolve(signal ?? code))
  })
  if (code !== 0) throw new Error(`${tool} failed (${code}): ${said.trim()}`)
}

function toolNotFound(tool: ClientTool): Error {
  return new Error(
    `${tool} was not found: install PostgreSQL's client of the server's version or a later one (on Debian \`apt-get install postgresql-client\`), or put the folder that has it in PATH.`,
  )
}

/** Holds that a tool is of the server's version or a later one. @param serverNumber as `server_version_num` has it */
export async function requireToolVersion(tool: ClientTool, serverNumber: number): Promise<void> {
  let text = ''
  await runTool(tool, ['--version'], (bytes) => {
    text += bytes
  })
  const version = Number(/(\d+)(\.\d+)* *(\(.*\))?\s*$/.exec(text)?.[1])
  const server = Math.floor(serverNumber / 10_000)
  if (version >= server) return
  throw new Error(
    `${tool} is of version ${version}, older than the server (${server}): install PostgreSQL's client ${server} or later, and put its folder first in PATH (on Debian /usr/lib/postgresql/${server}/bin).`,
  )
}

/**
 * Calls `use` with the connection string of a place for one of the tools, which sees the rows of every merchant.
 *
 * The password is in a file that only its owner can read, and not in the arguments, which every user of the machine can.
 */
export async function withConnectionString<Result>(
  { config: { connectionString = '' } }: ServerTarget,
  use: (connection: string) => Promise<Result>,
): Promise<Result> {
  const url = new URL(connectionString)
  const { searchParams } = url
  // pg takes a server on this machine by its name, and PostgreSQL's own tools by its socket.
  if (url.hostname === '' && !searchParams.has('host')) searchParams.set('host', 'localhost')
  // A word that only pg knows: the connection is encrypted, and nothing is checked.
  if (searchParams.get('sslmode') === 'no-verify') searchParams.set('sslmode', 'require')
  searchParams.delete('uselibpqcompat')
  const options = [searchParams.get('options'), '-c app.every_merchant=on', '-c statement_timeout=0']
  searchParams.set('options', options.filter((option) => option !== null).join(' '))
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  try {
    if (url.password !== '') {
      const passwords = join(folder, 'passwords')
      const escaped = decodeURIComponent(url.password).replace(/[\\:]/g, '\\$&')
      writeFileSync(passwords, `*:*:*:*:${escaped}\n`, { mode: 0o600 })
      searchParams.set('passfile', passwords)
      url.password = ''
    }
    // libpq takes a plus sign for itself, and not for a space.
    return await use(url.href.replace(url.search, url.search.replaceAll('+', '%20')))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
