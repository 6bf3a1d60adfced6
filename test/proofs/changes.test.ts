import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Node } from '../support/source.ts'
import { parseSource } from '../support/source.ts'

const root = join(import.meta.dirname, '../..')

/** Every `{ file, from, to }` in the proofs and benchmarks: a source change that removes a protection. */
function changesIn(path: string): { file: string; from: string }[] {
  const source = readFileSync(join(root, path), 'utf8')
  return parseSource(path, source).nodes.flatMap(({ type, properties }) => {
    if (type !== 'ObjectExpression') return []
    const texts = Object.fromEntries(
      (properties as Node[]).map(({ key, value }) => [
        (key as Node | undefined)?.name,
        textOf(value as Node | undefined),
      ]),
    )
    const { file, from } = texts
    return file && from && 'to' in texts ? [{ file, from }] : []
  })
}

function textOf(node: Node | undefined): string | null {
  if (node === undefined) return null
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  const [quasi, ...others] = node.type === 'TemplateLiteral' ? (node.quasis as Node[]) : []
  return quasi && others.length === 0 ? (quasi.value as { cooked: string }).cooked : null
}

test('the text of every source change in a proof occurs exactly once in its file', () => {
  const paths = ['test/proofs', 'test/bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.startsWith('yardsticks'))
      .map((path) => join(folder, path)),
  )
  const changes = paths.flatMap((path) => changesIn(path).map((change) => ({ path, ...change })))
  const stale = changes.filter(({ file, from }) => readFileSync(join(root, file), 'utf8').split(from).length !== 2)

  expect(changes.length).toBeGreaterThan(30)
  expect(stale).toEqual([])
})
