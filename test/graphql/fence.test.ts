import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** What makes code of a text. */
const compilers = /\bFunction\s*\(|\beval\b\s*[(,)]|['"](node:)?vm['"]|\.constructor\s*\(/

/** The lines of a source that could. */
function compilersIn(source: string): string[] {
  return source.split('\n').filter((line) => compilers.test(line.replace(/^\s*(\/\/|\/?\*).*/, '')))
}

test('nothing that sees a caller’s document can make code of a text', () => {
  const files = ['core', 'graphql', 'lists', 'rest', 'server'].flatMap((folder) =>
    readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join('src', folder, path)),
  )
  const found = files.flatMap((file) =>
    compilersIn(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
  )
  expect(files.length).toBeGreaterThan(60)
  expect(found).toEqual([])
})

// As somebody might in good faith.
test.each([
  'const read = new Function("row", body)',
  'return Function("return " + body)()',
  'eval(body)',
  '(0, eval)(body)',
  "import { Script } from 'node:vm'",
  'const { runInThisContext } = require("vm")',
  '(async () => {}).constructor(body)',
])('%s would be seen', (line) => {
  expect(compilersIn(line)).toEqual([line])
})

/** What came of the attacks in a process that writes down what is compiled. */
async function fence(environment: Record<string, string> = {}) {
  const program = join(import.meta.dirname, 'support/fence-main.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: { ...process.env, ...environment } })
  return JSON.parse(stdout) as { answered: number; compiled: number; found: string[] }
}

test('no text of a caller is compiled', async () => {
  const { answered, compiled, found } = await fence()
  expect(found).toEqual([])
  expect(answered).toBeGreaterThan(200)
  // What our own queries and others' libraries compile is seen, so the watch works.
  expect(compiled).toBeGreaterThan(20)
})

test('one that would be is found', async () => {
  const { found } = await fence({ FENCE_CONTROL: '1' })
  expect(found[0]).toContain('Kuckucksei')
})
