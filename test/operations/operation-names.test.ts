import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../src/server/operations.ts'

const modules = join(import.meta.dirname, '../../src/modules')

/** The texts of all modules. */
const sources = readdirSync(modules, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(modules, path), 'utf8'))

/** What the first group of a pattern matches in the modules. */
function foundInSources(pattern: RegExp): string[] {
  return sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name)).sort()
}

test('the writer can run every operation that the sources define, each under a unique name', () => {
  const defined = foundInSources(/= define(?:Internal)?Operation\(\s*(?:\{\s*name: )?'(\w+)'/g)
  expect(defined).toEqual(Object.keys(operations).sort())
  expect(defined.length).toBe(foundInSources(/= (define(?:Internal)?Operation)\(/g).length)
  for (const [name, operation] of Object.entries(operations)) expect(operation.declaration.name).toBe(name)
})

test('each operation is exported under the name in its declaration', () => {
  const exported = foundInSources(/^export const (\w+) = define(?:Internal)?Operation\(/gm)
  expect(exported).toEqual(Object.keys(operations).sort())
})

test('idempotency keys are stored with the name of their operation', () => {
  const keyed = foundInSources(/\brunOnce\(context, '(\w+)'/g)
  // A client token is not stored, and payouts store their keys themselves.
  const others = ['createClientToken', 'createPayout']
  expect(keyed).toEqual(
    Object.values(operations)
      .flatMap(({ declaration }) => ('errors' in declaration ? [declaration.name] : []))
      .filter((name) => !others.includes(name))
      .sort(),
  )
  for (const text of sources.filter((text) => /= defineOperation\(/.test(text))) {
    const names = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name)
    const defined = names(/= defineOperation\(\s*\{\s*name: '(\w+)'/g)
    expect(defined).toEqual(expect.arrayContaining(names(/\brunOnce\(context, '(\w+)'/g)))
  }
})
