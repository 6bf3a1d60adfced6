import { describe, expect, test } from 'vitest'
import type { Query } from '../../src/database/query.ts'
import { toGlobalId } from '../../src/graphql/schema/global-ids.ts'
import { sandboxSchema as schema } from '../../src/server/graphql/schema.ts'
import { everyEngine } from '../support/app.ts'
import { createAsk, createServerVariant } from './support/ask.ts'
import { askFor, callsOf, itemOf } from './support/lists.ts'
import { everythingOf } from './support/selection.ts'
import type { NodeType, Thing, World } from './support/world.ts'
import { hasUuid, nodeTypes, spellingsOf, startWorlds, thingsOf } from './support/world.ts'

const assetTypes = ['AssetCode', 'AssetNetwork']

/** The argument of a selection with one type's own fields. */
const ofType = (type: NodeType) => `{ ... on ${type} ${everythingOf(schema, type)} }`

describe.each(everyEngine)('nodes on %s', (engine) => {
  test('node(id:) accepts every spelling of an id, and returns the canonical id', async () => {
    const { app, ours } = await startWorlds(engine)
    const ask = createAsk(app)
    const things = await everyThing(ask, ours)
    expect(new Set(things.map(({ type }) => type))).toEqual(new Set(nodeTypes))
    for (const thing of things) {
      const { type, id } = thing
      const nodes = []
      for (const spelling of spellingsOf(thing)) {
        const { data, errors } = await ask(`query($id: ID!) { node(id: $id) ${ofType(type)} }`, { id: spelling })
        expect(errors).toEqual([])
        nodes.push(data.node)
      }
      const uuid = hasUuid(type) ? { uuid: id } : {}
      expect(nodes[0]).toMatchObject({ __typename: type, id: toGlobalId(type, id), ...uuid })
      for (const node of nodes) expect(node).toEqual(nodes[0])
    }
  })

  test('node(id:) returns null for a global id with the wrong type', async () => {
    const { app, ours } = await startWorlds(engine)
    const ask = createAsk(app)
    for (const { type, id } of await everyThing(ask, ours)) {
      for (const other of nodeTypes.filter((each) => each !== type)) {
        const { data } = await ask('query($id: ID!) { node(id: $id) { __typename } }', { id: toGlobalId(other, id) })
        expect(data, `${type} as ${other}`).toEqual({ node: null })
      }
    }
  })

  test('nodes(ids:) returns nodes in the order of the ids, with duplicates, and null for missing nodes', async () => {
    const { app, ours, theirs } = await startWorlds(engine)
    const ask = createAsk(app)
    const things = thingsOf(ours)
    const existing = things.flatMap((thing) => spellingsOf(thing).map((id) => [id, toGlobalId(thing.type, thing.id)]))
    const missing = [
      app.service.newId(),
      theirs.person,
      toGlobalId('Customer', theirs.person),
      'junk',
      '',
      ours.methods.deletedBank,
    ]
    const mixed = [...existing, ...missing.map((id) => [id, null])].sort(([one], [other]) =>
      (one ?? '') < (other ?? '') ? -1 : 1,
    )
    const requested = [...mixed, ...mixed.toReversed()].filter(([, id], index) => id === null || index % 3 === 0)
    expect(requested.length).toBeLessThanOrEqual(100)
    const { data } = await ask('query($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: requested.map(([id]) => id) })
    expect(data.nodes.map((node: { id: string } | null) => node?.id ?? null)).toEqual(requested.map(([, id]) => id))
    expect(requested.filter(([, id]) => id === null).length).toBeGreaterThan(missing.length - 1)
    expect((await ask('{ nodes(ids: []) { id } }')).data).toEqual({ nodes: [] })
  })

  test('nodes(ids:) accepts a hundred ids, and rejects more', async () => {
    const { app, ours } = await startWorlds(engine)
    const ask = createAsk(app)
    const query = 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }'
    const hundred = await ask(query, { ids: Array(100).fill(ours.person) })
    expect(hundred.data.nodes).toEqual(Array(100).fill({ id: toGlobalId('Customer', ours.person) }))
    for (const ids of [Array(101).fill(ours.person), Array(500).fill('junk')]) {
      const { data, errors } = await ask(query, { ids })
      expect(data).toEqual({ nodes: null })
      expect(errors).toMatchObject([
        {
          message: 'ids must have at most 100 items.',
          extensions: { code: 'INVALID_INPUT', fields: [{ field: 'ids', code: 'INVALID_PARAMETER' }] },
        },
      ])
    }
  })

  test('node(id:) returns the same fields as the list that contained the node', async () => {
    const { app, ours } = await startWorlds(engine)
    const ask = createAsk(app)
    const calls = callsOf({
      Customer: [ours.person, ours.company],
      Wallet: [ours.wallets.merchant, ours.wallets.person],
    })
    for (const call of calls) {
      const { connection } = await askFor(
        ask,
        call,
        { first: 20 },
        `{ nodes ${everythingOf(schema, itemOf(call.list))} }`,
      )
      const listedNodes = connection.nodes as readonly { id: string; __typename: string }[]
      expect(listedNodes).not.toEqual([])
      const one = listedNodes.slice(0, 3)
      for (const node of one) {
        const again = await ask(`query($id: ID!) { node(id: $id) ${ofType(node.__typename as NodeType)} }`, {
          id: node.id,
        })
        expect(again.data.node, call.list).toEqual(node)
      }
      const { data } = await ask(`query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }`, {
        ids: listedNodes.map(({ id }) => id),
      })
      expect(data.nodes).toEqual(listedNodes.map(({ __typename, id }) => ({ __typename, id })))
    }
  })

  test('nodes(ids:) reads all nodes of a type in one query', async () => {
    const { app, ours } = await startWorlds(engine)
    let statements = 0
    const execute = <Result>(query: Query, params: object) => {
      statements++
      return app.db.execute<Result>(query, params)
    }
    const ask = createAsk(app, {
      server: createServerVariant(app, {
        service: { ...app.service, db: { ...app.db, execute, tableVersion: () => null } },
      }),
    })
    const countOf = async (ids: readonly string[]) => {
      statements = 0
      const { data, errors } = await ask('query($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids })
      expect(errors).toEqual([])
      expect(data.nodes).not.toContain(null)
      return statements
    }
    const things = await everyThing(ask, ours)
    for (const type of nodeTypes) {
      const ids = things.filter((thing) => thing.type === type).map((thing) => toGlobalId(type, thing.id))
      if (type !== 'Merchant') expect(ids.length, type).toBeGreaterThan(1)
      expect(await countOf(ids), type).toBe(await countOf(ids.slice(0, 1)))
    }
    const uuids = things.filter(({ type }) => hasUuid(type)).map(({ id }) => id)
    expect(await countOf(uuids)).toBe(await countOf(uuids.slice(0, 1)))
    expect(await countOf(uuids)).toBeLessThan(nodeTypes.length + 3)
  })
})

/** The nodes of a merchant, and those that all merchants share. */
async function everyThing(ask: ReturnType<typeof createAsk>, ours: World): Promise<Thing[]> {
  const { data } = await ask('{ assetCodes { nodes { uuid networks { uuid } } } }')
  const assets = data.assetCodes.nodes as { uuid: string; networks: { uuid: string }[] }[]
  const idsOf = (type: string) =>
    assets.flatMap(({ uuid, networks }) => (type === 'AssetCode' ? [uuid] : networks.map((network) => network.uuid)))
  const supported = assetTypes.flatMap((type) => idsOf(type).map((id) => ({ type: type as NodeType, id })))
  return [...thingsOf(ours), ...supported]
}
