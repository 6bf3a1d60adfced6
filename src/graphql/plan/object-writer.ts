import type { FieldNode, GraphQLObjectType, SelectionSetNode } from 'graphql'
import { mapMaybe } from '../../core/maybe-promise.ts'
import { collectFields } from './collect-fields.ts'
import { fieldWriterOf } from './field-writers.ts'
import type { FieldWriter, PlanningContext } from './planning.ts'
import type { RowReader } from './row-reader.ts'
import { valueAt } from './row-reader.ts'
import type { JsonTexts, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs, writeAll } from './runtime.ts'

/** A member of an object: what stands before its text, and its place among those whose texts are written for all rows at once. */
type ObjectPart = { readonly prefix: string; readonly writer: FieldWriter; readonly levelIndex: number }

/** Writes objects of a type, one for each row, with what is selected of them. */
export function objectWriter(
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  rows: RowReader,
  planning: PlanningContext,
): WriteLevel {
  const parts: ObjectPart[] = []
  const writes: WriteLevel[] = []
  let before = '{'
  for (const [name, nodes] of collectFields(type, sets, planning)) {
    const [node] = nodes as readonly [FieldNode, ...FieldNode[]]
    before += `"${name}":`
    if (node.name.value === '__typename') {
      before += `"${type.name}",`
      continue
    }
    const field = type.getFields()[node.name.value]
    if (!field) fallBackToGraphqlJs()
    const within = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const member = fieldWriterOf({ field, node, selectionSets: within, rows, planning })
    const mark = member.kind !== 'level' && member.isText ? '"' : ''
    before += mark
    parts.push({
      prefix: before,
      writer: member,
      levelIndex: member.kind === 'level' ? writes.push(member.write) - 1 : -1,
    })
    before = `${mark},`
  }
  planning.size.members += parts.length + 1
  const after = `${before.replace(/,$/, '')}}`

  const writeRow = (row: unknown, place: number, columns: readonly JsonTexts[]) => {
    let all = ''
    for (const { prefix: before, writer: member, levelIndex: column } of parts) {
      all += before
      if (member.kind === 'cell') all += member.write(valueAt(row, member.cell))
      else if (member.kind === 'row') all += member.write(row)
      else all += columns[column]?.[place] ?? fallBackToGraphqlJs()
    }
    return all + after
  }
  return (values, run) =>
    mapMaybe(writeAll(writes, values, run), (columns) => values.map((row, place) => writeRow(row, place, columns)))
}
