import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Code that compiles a string. */
const compilers = /\bFunction\s*\(|\beval\b\s*[(,)]|['"](node:)?vm['"]|\.constructor\s*\(/

/** The lines of a source that match. */
function compilersIn(source: string): string[] {
  return source.split('\n').filter((line) => compilers.test(line.replace(/^\s*(\/\/|\/?\*).*/, '')))
}

test('no source file that handles a caller’s document compiles a string as code', () => {
  const files = ['core', 'graphql', 'lists', 'rest', 'server'].flatMap((folder) =>
    readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join('src', folder, path)),
  )
  const compilerLines = files.flatMap((file) =>
    compilersIn(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
  )
  expect(files.length).toBeGreaterThan(60)
  expect(compilerLines).toEqual([])
})

// Plausible ways in which a contributor might add it.
test.each([
  'const read = new Function("row", body)',
  'return Function("return " + body)()',
  'eval(body)',
  '(0, eval)(body)',
  "import { Script } from 'node:vm'",
  'const { runInThisContext } = require("vm")',
  '(async () => {}).constructor(body)',
])('the check for code that compiles a string detects: %s', (line) => {
  expect(compilersIn(line)).toEqual([line])
})

/** The result of the attacks in a process that records all compiled strings. */
async function fence(environment: Record<string, string> = {}) {
  const program = join(import.meta.dirname, 'support/fence-main.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: { ...process.env, ...environment } })
  return JSON.parse(stdout) as { answered: number; compiled: number; found: string[] }
}

test('the service compiles no text of a caller as code', async () => {
  const { answered, compiled, found: compilerLines } = await fence()
  expect(compilerLines).toEqual([])
  expect(answered).toBeGreaterThan(200)
  // Recorded compilations by our queries and by libraries show that the recorder works.
  expect(compiled).toBeGreaterThan(20)
})

test('the recorder of compiled strings detects a compiled string of a caller', async () => {
  const { found: compilerLines } = await fence({ FENCE_CONTROL: '1' })
  expect(compilerLines[0]).toContain('Kuckucksei')
})
