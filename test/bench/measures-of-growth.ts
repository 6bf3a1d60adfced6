import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchDatabase } from './data.ts'
import { documents } from './documents.ts'
import type { Measure, Subject } from './measures.ts'
import { dataOf, service } from './measures.ts'

/** The last page of a large list compared with its first, by number in REST and by cursor in GraphQL. */
export function pages(data: BenchDatabase, lastCursor: string): Measure[] {
  const server = service(`sqlite:${data.path}`)
  const lastPage = Math.floor(data.sizes.methods / 20)
  const paged = (place: string, page: number): Subject => ({
    name: `${place} page`,
    server,
    load: { path: `/api/payout/methods?limit=20&page=${page}`, apiKeys: [data.apiKey] },
    valueOf: (body) => (body as { data: unknown[] }).data.length,
  })
  const sliced = (place: string, variables: object): Subject => ({
    name: `${place} slice`,
    server,
    load: { path: '/graphql', body: JSON.stringify({ query: documents.q2, variables }), apiKeys: [data.apiKey] },
    valueOf: (body) => (dataOf(body).payouts as { nodes: unknown[] }).nodes.length,
  })
  return [
    {
      name: 'page',
      title: `REST: the last page of ${data.sizes.methods} payout methods against the first`,
      clients: 32,
      subjects: [paged('last', lastPage), paged('first', 1)],
      targets: [{ against: 'first page', reach: 1.5, aim: 1.1 }],
      isCost: true,
    },
    {
      name: 'cursor',
      title: `GraphQL: the last 20 of ${data.sizes.payouts} payouts against the first`,
      clients: 32,
      subjects: [sliced('last', { first: 20, after: lastCursor }), sliced('first', { first: 20, after: null })],
      targets: [{ against: 'first slice', reach: 1.2, aim: 1.05 }],
      isCost: true,
    },
  ]
}

/** The first page of a large list compared with that of a small one. */
export function growth(large: BenchDatabase, small: BenchDatabase): Measure {
  const subjectOf = (data: BenchDatabase): Subject => ({
    name: `${data.sizes.payouts} payouts`,
    server: service(`sqlite:${data.path}`),
    load: {
      path: '/graphql',
      body: JSON.stringify({ query: documents.q2, variables: { first: 20, after: null } }),
      apiKeys: [data.apiKey],
    },
    valueOf: (body) => (dataOf(body).payouts as { nodes: unknown[] }).nodes.length,
  })
  return {
    name: 'growth',
    title: 'GraphQL: the first 20 payouts of many against those of few',
    clients: 32,
    subjects: [large, small].map(subjectOf),
    targets: [{ against: `${small.sizes.payouts} payouts`, reach: 1.3, aim: 1.1 }],
    isCost: true,
  }
}

/** Two processes compared with one, if the service supports two. */
export function workers(data: BenchDatabase): Measure | null {
  if (!readFileSync(join(import.meta.dirname, '../../src/app/config.ts'), 'utf8').includes('WORKERS')) return null
  const subjectOf = (count: number): Subject => {
    const one = service(`sqlite:${data.path}`)
    return {
      name: count === 1 ? '1 process' : `${count} processes`,
      server: { ...one, environment: { ...one.environment, WORKERS: String(count) } },
      load: { path: '/api/payout/methods?limit=20', apiKeys: [data.apiKey] },
      valueOf: (body) => body,
    }
  }
  return {
    name: 'workers',
    title: 'REST: 20 payout methods, two processes against one',
    clients: 32,
    subjects: [subjectOf(2), subjectOf(1)],
    targets: [{ against: '1 process', reach: 1.6, aim: 1.75 }],
  }
}
