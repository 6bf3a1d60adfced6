import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Node } from '../support/source.ts'
import { parseSource } from '../support/source.ts'

const root = join(import.meta.dirname, '../..')

type SourceChange = { readonly path: string; readonly file: string; readonly from: string; readonly to: string | null }

/** Every `{ file, from, to }` in the proofs and benchmarks: a source change that removes a protection. */
function changesIn(path: string): SourceChange[] {
  const source = readFileSync(join(root, path), 'utf8')
  return parseSource(path, source).nodes.flatMap(({ type, properties }) => {
    if (type !== 'ObjectExpression') return []
    const texts = Object.fromEntries(
      (properties as Node[]).map(({ key, value }) => [
        (key as Node | undefined)?.name,
        textOf(value as Node | undefined),
      ]),
    )
    const { file, from, to } = texts
    return file && from && to !== undefined ? [{ path, file, from, to }] : []
  })
}

function textOf(node: Node | undefined): string | null {
  if (node === undefined) return null
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  const [quasi, ...others] = node.type === 'TemplateLiteral' ? (node.quasis as Node[]) : []
  return quasi && others.length === 0 ? (quasi.value as { cooked: string }).cooked : null
}

const changes = ['test/proofs', 'test/bench'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('yardsticks'))
    .flatMap((path) => changesIn(join(folder, path))),
)

const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('the text of every source change in a proof occurs exactly once in its file', () => {
  const stale = changes.filter(({ file, from }) => read(file).split(from).length !== 2)

  expect(changes.length).toBeGreaterThan(30)
  expect(stale).toEqual([])
})

/** The names of variables that a source uses, and those that it declares. */
function variablesOf(file: string, source: string): { used: Set<unknown>; declared: Set<unknown> } {
  const { nodes } = parseSource(file, source)
  const members = nodes.map(({ computed, shorthand, property, key }) =>
    computed || shorthand ? null : (property ?? key),
  )
  const variables = nodes.filter((node) => node.type === 'Identifier' && !members.includes(node))
  const patterns = nodes.flatMap(({ type, id, params }) => {
    if (type === 'VariableDeclarator') return [id as Node]
    return Array.isArray(params) ? (params as Node[]) : []
  })
  const isDeclared = ({ start }: Node) => patterns.some((pattern) => pattern.start <= start && start < pattern.end)
  return {
    used: new Set(variables.map(({ name }) => name)),
    declared: new Set(variables.filter(isDeclared).map(({ name }) => name)),
  }
}

// A change that fails with a ReferenceError would make its proof fail without showing anything.
test('every source change in a proof uses only variables that exist in its file', () => {
  const unknown = changes.flatMap(({ path, file, from, to }) => {
    if (to === null) return []
    const before = variablesOf(file, read(file))
    const isKnown = (name: unknown) => before.used.has(name) || String(name) in globalThis || name === 'arguments'
    const { used, declared } = variablesOf(
      file,
      read(file).replace(from, () => to),
    )
    const missing = [...used].filter((name) => !isKnown(name) && !declared.has(name))
    return missing.map((name) => `${path}: ${name} is not in ${file}`)
  })

  expect(unknown).toEqual([])
})
