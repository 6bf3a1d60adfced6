import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerTarget } from './connection-url.ts'

export type ClientTool = 'pg_dump' | 'pg_restore'

/** @throws Error with the tool's standard error output */
export async function runTool(
  tool: ClientTool,
  args: readonly string[],
  onOutput: (bytes: Buffer) => void = () => {},
): Promise<void> {
  const child = spawn(tool, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-2_000)
  })
  child.stdout.on('data', onOutput)
  const code = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ENOENT' ? toolNotFound(tool) : error))
    child.once('close', (code, signal) => resolve(signal ?? code))
  })
  if (code !== 0) throw new Error(`${tool} failed (${code}): ${stderr.trim()}`)
}

function toolNotFound(tool: ClientTool): Error {
  return new Error(
    `${tool} was not found: install the PostgreSQL client tools of the server's version or later (on Debian \`apt-get install postgresql-client\`), or add their folder to PATH.`,
  )
}

/** @param serverNumber `server_version_num` @throws Error when the tool is older than the server */
export async function requireToolVersion(tool: ClientTool, serverNumber: number): Promise<void> {
  let text = ''
  await runTool(tool, ['--version'], (bytes) => {
    text += bytes
  })
  const version = Number(/(\d+)(\.\d+)* *(\(.*\))?\s*$/.exec(text)?.[1])
  const server = Math.floor(serverNumber / 10_000)
  if (version >= server) return
  throw new Error(
    `${tool} has version ${version}, older than the server (${server}): install the PostgreSQL client tools ${server} or later, and put their folder first in PATH (on Debian /usr/lib/postgresql/${server}/bin).`,
  )
}

/** Passes the password in a private file, because all users of the machine can read process arguments. */
export async function withConnectionString<Result>(
  { config: { connectionString = '' } }: ServerTarget,
  use: (connection: string) => Promise<Result>,
): Promise<Result> {
  const url = new URL(connectionString)
  const { searchParams } = url
  // If the URL has no host, pg connects to localhost, but libpq connects to a Unix socket.
  if (url.hostname === '' && !searchParams.has('host')) searchParams.set('host', 'localhost')
  // libpq does not support `no-verify`. Like `no-verify`, the mode `require` of libpq encrypts without verifying the
  // certificate.
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
    // libpq does not decode `+` as a space.
    return await use(url.href.replace(url.search, url.search.replaceAll('+', '%20')))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
