import type { FieldNode, GraphQLObjectType, SelectionSetNode } from 'graphql'
import { memberOf } from './members.ts'
import type { Planning } from './planning.ts'
import type { Rows } from './rows.ts'
import { selectedOf } from './selected.ts'
import type { Texts, Write } from './written.ts'
import { afterwards, leftToGraphqlJs, together } from './written.ts'

/** A member of an object: what stands before its text, and that of each row, made at once or among those of all rows. */
type Part = { readonly before: string; readonly text: ((row: unknown) => string) | null; readonly column: number }

/** Writes objects of a type, one for each row, with what is selected of them. */
export function objectWriter(
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  rows: Rows,
  planning: Planning,
): Write {
  const parts: Part[] = []
  const writes: Write[] = []
  let before = '{'
  for (const [name, nodes] of selectedOf(type, sets, planning)) {
    const [node] = nodes as readonly [FieldNode, ...FieldNode[]]
    before += `"${name}":`
    if (node.name.value === '__typename') {
      before += `"${type.name}",`
      continue
    }
    const field = type.getFields()[node.name.value]
    if (!field) throw leftToGraphqlJs
    const within = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const { text = null, write } = memberOf({ field, node, sets: within, rows, planning })
    parts.push({ before, text, column: write ? writes.push(write) - 1 : -1 })
    before = ','
  }
  const after = `${before.replace(/,$/, '')}}`

  const textOf = (row: unknown, place: number, columns: readonly Texts[]) => {
    let all = ''
    for (const { before, text, column } of parts) {
      all += before + (text === null ? columns[column]?.[place] : text(row))
    }
    return all + after
  }
  return (values, run) =>
    afterwards(together(writes, values, run), (columns) => values.map((row, place) => textOf(row, place, columns)))
}
