import type { GraphQLObjectType } from 'graphql'
import type { FieldSource } from '../schema/field-source.ts'
import { nodeCandidatesOf, nodeSources } from '../schema/node.ts'
import { argumentsReader } from './arguments.ts'
import type { FieldWriter, PlannedField } from './planning.ts'
import type { PlanRun, WriteLevel } from './runtime.ts'
import { wrapWriter, writerByType } from './value-writers.ts'

type LoadedNode = { readonly type: string; readonly row: unknown }

/** Nodes of any type by their ids: those of each type are loaded together. */
export function nodesFieldWriter(
  { idsOf }: Extract<FieldSource, { readonly kind: 'nodes' }>,
  place: PlannedField,
): FieldWriter {
  const { field, selectionSets: sets, planning } = place
  const given = argumentsReader(place)
  const sources = new Map([...nodeSources].map(([type, { source }]) => [type, planning.rowsOfSource(source)]))
  const writers = new Map<string, WriteLevel>()
  for (const [type, { rows }] of sources) {
    const write = planning.writerOf(planning.schema.getType(type) as GraphQLObjectType, sets, rows)
    writers.set(type, (nodes, run) =>
      write(
        nodes.map((node) => (node as LoadedNode).row),
        run,
      ),
    )
  }
  const write = wrapWriter(
    field.type,
    writerByType((node) => (node as LoadedNode).type, writers),
  )

  const loadNodes = async (ids: readonly string[], run: PlanRun): Promise<(LoadedNode | null)[]> => {
    const names = ids.map(nodeCandidatesOf)
    const found = await Promise.all(
      [...Map.groupBy(names.flat(), ({ type }) => type)].map(async ([type, all]) => {
        const keys = new Set(all.map(({ key }) => key))
        return [type, await sources.get(type)?.load(run, [...keys])] as const
      }),
    )
    const rowsOf = new Map(found)
    const nodeOf = ({ type, key }: (typeof names)[number][number]): LoadedNode => ({
      type,
      row: rowsOf.get(type)?.(key) ?? null,
    })
    return names.map((candidates) => candidates.map(nodeOf).find(({ row }) => row !== null) ?? null)
  }
  return {
    kind: 'level',
    write: async (roots, run) => {
      const ids = idsOf(given(run) as never)
      const value = typeof ids === 'string' ? (await loadNodes([ids], run))[0] : await loadNodes(ids, run)
      return write(
        roots.map(() => value),
        run,
      )
    },
  }
}
