import type { GraphQLObjectType } from 'graphql'
import type { Shown } from '../schema/field-source.ts'
import { namedBy, nodeSources } from '../schema/node.ts'
import { argumentsAt } from './arguments.ts'
import type { Member, Place } from './planning.ts'
import type { Run, Write } from './runtime.ts'
import { byType, wrapped } from './value.ts'

type Node = { readonly type: string; readonly row: unknown }

/** Nodes of any type by their ids: those of each type are loaded together. */
export function nodesAt({ idsOf }: Extract<Shown, { readonly kind: 'nodes' }>, place: Place): Member {
  const { field, sets, planning } = place
  const given = argumentsAt(place)
  const sources = new Map([...nodeSources].map(([type, { source }]) => [type, planning.found(source)]))
  const writers = new Map<string, Write>()
  for (const [type, { rows }] of sources) {
    const write = planning.writerOf(planning.schema.getType(type) as GraphQLObjectType, sets, rows)
    writers.set(type, (nodes, run) =>
      write(
        nodes.map((node) => (node as Node).row),
        run,
      ),
    )
  }
  const write = wrapped(
    field.type,
    byType((node) => (node as Node).type, writers),
  )

  const nodesFor = async (ids: readonly string[], run: Run): Promise<(Node | null)[]> => {
    const names = ids.map(namedBy)
    const found = await Promise.all(
      [...Map.groupBy(names.flat(), ({ type }) => type)].map(async ([type, all]) => {
        const keys = new Set(all.map(({ key }) => key))
        return [type, await sources.get(type)?.load(run, [...keys])] as const
      }),
    )
    const rowsOf = new Map(found)
    const nodeOf = ({ type, key }: (typeof names)[number][number]): Node => ({
      type,
      row: rowsOf.get(type)?.(key) ?? null,
    })
    return names.map((candidates) => candidates.map(nodeOf).find(({ row }) => row !== null) ?? null)
  }
  return {
    kind: 'level',
    write: async (roots, run) => {
      const ids = idsOf(given(run) as never)
      const value = typeof ids === 'string' ? (await nodesFor([ids], run))[0] : await nodesFor(ids, run)
      return write(
        roots.map(() => value),
        run,
      )
    },
  }
}
