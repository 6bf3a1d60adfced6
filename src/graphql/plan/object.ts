import type { FieldNode, GraphQLObjectType, SelectionSetNode } from 'graphql'
import { answerOf } from '../../database/query.ts'
import { selectedOf } from './collect-fields.ts'
import { memberOf } from './field-writers.ts'
import type { Member, Planning } from './planning.ts'
import type { Rows } from './rows.ts'
import { valueAt } from './rows.ts'
import type { Texts, Write } from './runtime.ts'
import { leaveToGraphqlJs, together } from './runtime.ts'

/** A member of an object: what stands before its text, and its place among those whose texts are written for all rows at once. */
type Part = { readonly before: string; readonly member: Member; readonly column: number }

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
    if (!field) leaveToGraphqlJs()
    const within = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const member = memberOf({ field, node, sets: within, rows, planning })
    const mark = member.kind !== 'level' && member.isText ? '"' : ''
    before += mark
    parts.push({ before, member, column: member.kind === 'level' ? writes.push(member.write) - 1 : -1 })
    before = `${mark},`
  }
  planning.made.members += parts.length + 1
  const after = `${before.replace(/,$/, '')}}`

  const textOf = (row: unknown, place: number, columns: readonly Texts[]) => {
    let all = ''
    for (const { before, member, column } of parts) {
      all += before
      if (member.kind === 'cell') all += member.write(valueAt(row, member.cell))
      else if (member.kind === 'row') all += member.write(row)
      else all += columns[column]?.[place] ?? leaveToGraphqlJs()
    }
    return all + after
  }
  return (values, run) =>
    answerOf(together(writes, values, run), (columns) => values.map((row, place) => textOf(row, place, columns)))
}
