import { join } from 'node:path'
import type { BenchDatabase } from './data.ts'
import { documents } from './documents.ts'
import type { Measure, Target } from './measures.ts'
import { dataOf, plain, service } from './measures.ts'
import type { ServerSpec } from './servers.ts'
import { yardstickPath } from './yardsticks.ts'

/** Reads by the REST API. */
export function restReads(data: BenchDatabase): Measure[] {
  const servers = [
    service(`sqlite:${data.path}`),
    plain('bare', 'bare.ts', [data.path], data),
    plain('naive', 'naive.ts', [data.path], data),
  ]
  const read = (name: string, title: string, path: string, targets: readonly Target[]): Measure => ({
    name,
    title,
    clients: 32,
    subjects: servers.map((server) => ({
      name: server.name,
      server,
      load: { path, apiKeys: [data.apiKey] },
      valueOf: (body) => body,
    })),
    targets,
  })
  return [
    read('list', 'REST: 20 payout methods', '/api/payout/methods?limit=20', [
      { against: 'bare', reach: 1.6, aim: 2 },
      { against: 'naive', reach: 1.8, aim: 2.3 },
    ]),
    read('wallet', 'REST: a wallet by its id', `/api/wallets/${data.walletId}`, [
      { against: 'bare', reach: 2, aim: 2.4 },
      { against: 'naive', reach: 3, aim: 6 },
    ]),
  ]
}

/** Reads by the GraphQL API. */
export async function graphqlReads(data: BenchDatabase, { isQuick }: { isQuick: boolean }): Promise<Measure[]> {
  const own = service(`sqlite:${data.path}`)
  const environment = { MERCHANTS: JSON.stringify({ [data.apiKey]: data.merchantId }) }
  const yardstickOf = async (name: string, file: string, ...words: string[]): Promise<ServerSpec> => ({
    name,
    words: [await yardstickPath(file), data.path, ...words],
    environment,
  })
  const loaders = await yardstickOf('Mercurius, loaders', 'mercurius.js', 'loaders')
  const joins = await yardstickOf('Mercurius, joins', 'mercurius.js', 'joins')
  const yoga = await yardstickOf('naive Yoga', 'yoga.js')
  const apollo = await yardstickOf('Apollo Server', 'apollo.js')

  const read = (
    name: keyof typeof documents,
    title: string,
    variables: object,
    given: { servers: readonly ServerSpec[]; targets: readonly Target[] },
  ): Measure => ({
    name,
    title: `GraphQL: ${title}`,
    clients: 32,
    subjects: [own, ...given.servers].map((server) => ({
      name: server.name,
      server,
      load: {
        path: '/graphql',
        body: JSON.stringify({ query: documents[name], variables }),
        apiKeys: [data.apiKey],
      },
      valueOf: dataOf,
    })),
    targets: given.targets,
  })
  const others = isQuick ? [] : [yoga, apollo]
  return [
    read(
      'q1',
      'q1, a wallet with its addresses',
      { id: data.walletId },
      { servers: [loaders, ...others], targets: [{ against: loaders.name, reach: 1.35, aim: 1.5 }] },
    ),
    read(
      'q2',
      'q2, 20 payouts with their customers',
      { first: 20 },
      { servers: [loaders, ...others], targets: [{ against: loaders.name, reach: 2.6, aim: 3 }] },
    ),
    read(
      'q3',
      'q3, 100 payouts with customers and wallets',
      { first: 100 },
      {
        servers: [loaders, joins, yoga, ...(isQuick ? [] : [apollo])],
        targets: [
          { against: loaders.name, reach: 3.6, aim: 4.4 },
          { against: joins.name, reach: 1.25, aim: 1.6 },
          { against: yoga.name, reach: 3, aim: 5.5 },
        ],
      },
    ),
    read(
      'customer',
      'a customer with three lists',
      { id: data.customerId },
      { servers: [loaders], targets: [{ against: loaders.name, reach: 1, aim: 2 }] },
    ),
    read(
      'methods',
      '50 payout methods of two types with their checks',
      { first: 50 },
      { servers: [loaders], targets: [{ against: loaders.name, reach: 1, aim: 2 }] },
    ),
  ]
}

/** What bypassing Yoga saves for the same request to the same engine. */
export function graphqlWays(data: BenchDatabase): Measure[] {
  const body = (name: 'q1' | 'q2', variables: object) => JSON.stringify({ query: documents[name], variables })
  const measure = (name: string, title: string, load: { path: string; body: string }): Measure => ({
    name,
    title: `GraphQL: ${title}, past Yoga and through it`,
    clients: 32,
    subjects: ['short', 'yoga'].map((way) => ({
      name: way === 'short' ? 'short way' : 'Yoga',
      server: { name: way, words: [join(import.meta.dirname, 'one-way.ts'), data.path, way] },
      load: { ...load, apiKeys: [data.apiKey] },
      valueOf: dataOf,
    })),
    targets: [{ against: 'Yoga', reach: 1, aim: 1.2 }],
  })
  return [
    measure('ways-q1', 'q1', { path: '/graphql', body: body('q1', { id: data.walletId }) }),
    measure('ways-q2', 'q2', { path: '/graphql', body: body('q2', { first: 20 }) }),
  ]
}
