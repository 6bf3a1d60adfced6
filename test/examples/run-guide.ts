import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyClient, installClient } from '../clients/support/pack-client.ts'
import { freePort } from '../support/free-port.ts'
import type { Entry } from './support/guide.ts'
import { entries, expectedLines, guideBlocks, guidePath, layOut, run, runEntry } from './support/guide.ts'

// Runs every block of the guide for front ends, with the packages that the examples are locked to:
//   npm run guide [-- <entry> …]
// It prints the output of each entry, and exits with 1 after any failure.

const root = join(import.meta.dirname, '../..')
const named = process.argv.slice(2)
const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  types: ['node'],
  strict: true,
  noEmit: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
}

const below = mkdtempSync(join(tmpdir(), 'payout-gateway-guide-'))
await copyClient(below)
const service = await startService(below)
try {
  for (const entry of Object.keys(entries) as Entry[]) {
    if (named.length > 0 && !named.includes(entry)) continue
    const lines = await tryEntry(entry)
    for (const line of lines) process.stdout.write(`${entry}: ${line}\n`)
    const isMissing = (pattern: RegExp) => !lines.some((line) => pattern.test(line))
    for (const pattern of expectedLines[entry].filter(isMissing)) {
      process.stdout.write(`WRONG: ${guidePath}: ${entry} prints nothing like ${pattern}\n`)
      process.exitCode = 1
    }
  }
} finally {
  service.end()
  rmSync(below, { recursive: true })
}

/** Installs the packages of an entry, generates and checks its types, and runs it. */
async function tryEntry(entry: Entry): Promise<string[]> {
  // As deep as the examples, whose lock files name the folder of the client.
  const folder = join(below, 'pages', entry)
  mkdirSync(folder, { recursive: true })
  layOut(folder, service.address, await freePort())
  const example = entries[entry]
  if (example === null) {
    await installClient(folder)
    return runEntry(folder, entry)
  }
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    copyFileSync(join(root, 'examples', example, file), join(folder, file))
  }
  // An npm script passes this project's `ignore-scripts` on, which would omit the build of the client.
  await run(folder, 'npm', ['ci', '--ignore-scripts=false'])
  await run(folder, 'npx', entry === 'relay.ts' ? ['relay-compiler'] : codegen())
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [entry, 'server.ts'] }))
  await run(folder, 'npx', ['tsc'])
  return runEntry(folder, entry)
}

/** Returns the guide's last command that generates types, without its runner. */
function codegen(): string[] {
  const commands = guideBlocks().findLast(({ language }) => language === 'sh')?.text
  return commands?.trim().split('\n').at(-1)?.split(' ').slice(1) ?? []
}

/** Starts the service as `npm start` does, with its demo, on a free port. */
async function startService(folder: string) {
  const child = spawn(process.execPath, ['src/app/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'service.sqlite')}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const address = await new Promise<string>((resolve, reject) => {
    let greeting = ''
    child.stderr.on('data', (chunk) => {
      greeting += chunk
      const [found] = /http:\/\/[\d.]+:\d+/.exec(greeting) ?? []
      if (found) resolve(found)
    })
    child.once('close', () => reject(new Error(`the service ended: ${greeting}`)))
  })
  return { address, end: () => child.kill() }
}
