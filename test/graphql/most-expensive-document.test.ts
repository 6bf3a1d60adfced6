import { parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { seedLoadData } from '../../src/demo/load/seed.ts'
import { operationCost } from '../../src/graphql/documents/cost.ts'
import { limits } from '../../src/graphql/documents/limits.ts'
import { createEngine } from '../../src/graphql/execution/engine.ts'
import { executeRequest, serializeResult } from '../../src/graphql/execution/execute.ts'
import { systemCaller } from '../../src/operations/access/api-caller.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'
import { addTroubles, asCustomer } from '../bench/dearest-world.ts'
import { watchStatements } from '../bench/watch-statements.ts'
import { startApp } from '../support/app.ts'
import { cpuMs } from '../support/cpu.ts'

type Who = 'merchant' | 'customer'

/** Fields that `npm run bench:dearest` found to take the most time per unit of cost; `i` varies each one. */
const expensiveFields: readonly (readonly [name: string, who: Who, field: (i: number) => string])[] = [
  [
    'totals with a filter',
    'merchant',
    (i) => `payouts(first: 100, filter: {createdFrom: "${time(i)}", recipientCurrency: "ZAR"}) {totalCount}`,
  ],
  ['totals with a time', 'merchant', (i) => `payouts(first: 1, filter: {createdFrom: "${time(i)}"}) {totalCount}`],
  [
    'totals of deliveries',
    'merchant',
    (i) => `webhookEndpoints(first: ${50 - i}) {nodes {deliveries(first: 1) {totalCount}}}`,
  ],
  [
    'pages of deliveries',
    'merchant',
    (i) => `webhookEndpoints(first: ${50 - i}) {nodes {deliveries(first: 100) {pageInfo {endCursor}}}}`,
  ],
  [
    'attempts',
    'merchant',
    (i) => `webhookEndpoints(last: 2) {nodes {deliveries(first: ${20 - i}) {nodes {attempts {answer}}}}}`,
  ],
  [
    'attempts without their responses',
    'merchant',
    (i) => `webhookEndpoints(last: 2) {nodes {deliveries(first: ${20 - i}) {nodes {attempts {status}}}}}`,
  ],
  ['nested pages', 'merchant', (i) => `wallets(first: ${30 - i}) {nodes {payouts(first: 100) {pageInfo {endCursor}}}}`],
  [
    'pages with their totals',
    'merchant',
    (i) =>
      `wallets(first: 2) {nodes {payouts(first: ${100 - i}) {totalCount nodes {netAmount network rail recipientCurrency referenceId updatedAt}}}}`,
  ],
  ['attention', 'merchant', (i) => `attention(first: ${100 - i}) {nodes {cause}}`],
  ['attention', 'customer', (i) => `attention(first: ${20 - (i % 20)}) {nodes {cause}}`],
  [
    'events of one type',
    'merchant',
    (i) => `events(after: "${i}", first: 1, filter: {types: [CUSTOMER_CLOSED]}) {after}`,
  ],
  [
    'events of one type',
    'customer',
    (i) => `events(after: "${i}", first: 1, filter: {types: [CUSTOMER_CLOSED]}) {after}`,
  ],
  ['events', 'merchant', (i) => `events(after: "${i}", first: 100) {hasMore}`],
  ['events', 'customer', (i) => `events(after: "${i}", first: 100) {hasMore}`],
]

/**
 * The highest accepted ratio, in time and in rows per unit of cost. Before these fields had their own prices it
 * was up to 519, and 171 rows.
 */
const maxTimeRatio = 11
const maxRowRatio = 2.5

/** Rows of ten columns, which account for most of the cost of an ordinary document. */
const ordinary = (i: number) =>
  `payouts(first: ${100 - i}) {nodes {id uuid amount status createdAt updatedAt recipientName bankName balance assetCode}}`

function time(i: number): string {
  return new Date(Date.parse('2000-01-01T00:00:00.000Z') + i).toISOString()
}

function costOfText(query: string): number {
  const [operation] = parse(query).definitions
  if (operation?.kind !== 'OperationDefinition') throw new Error('no operation')
  return operationCost(sandboxSchema, operation, {})({})
}

/** The largest document within the limits that consists of one field. */
function largest(field: (i: number) => string): string {
  const documentOf = (count: number) => `{${Array.from({ length: count }, (_, i) => `a${i}: ${field(i)}`).join(' ')}}`
  let count: number = limits.aliases
  while (count > 1 && costOfText(documentOf(count)) > limits.cost) count--
  return documentOf(count)
}

async function startWorld() {
  const app = await startApp('sqlite')
  const sizes = { merchants: 1, customers: 30, methods: 10, wallets: 40, payouts: 12_000, seed: 1 }
  const [merchant] = await seedLoadData(app.service, sizes)
  if (!merchant) throw new Error('nothing was filled')
  await addTroubles(app.service, app.url.replace('sqlite:', ''), merchant.id)
  const engine = createEngine(sandboxSchema, { executor: 'planned' })
  const log = createLogger('silent', { write: () => {} })
  const customers = '{customers(first: 1) {nodes {uuid}}}'
  const ask = async (query: string, caller = systemCaller) => {
    const request = { service: app.service, engine, merchantId: merchant.id, caller, requestId: 'dearest', log }
    const answered = await executeRequest({ query, variables: {}, operationName: null }, request)
    if (!answered) throw new Error('expected no subscription')
    const { errors, data, extensions } = JSON.parse(serializeResult(answered.result))
    expect(errors, query.slice(0, 100)).toBeUndefined()
    return { data, cost: extensions.cost.requested as number }
  }
  const { data } = await ask(customers)
  const callers = { merchant: systemCaller, customer: asCustomer(data.customers.nodes[0].uuid) }
  return (query: string, who: Who) => ask(query, callers[who])
}

async function leastOfEach(works: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const least = works.map(() => Number.POSITIVE_INFINITY)
  for (let turn = 0; turn < 5; turn++) {
    for (const [place, work] of works.entries()) least[place] = Math.min(least[place] as number, await cpuMs(work))
  }
  return least
}

describe('the GraphQL document that takes most time per unit of cost', () => {
  test('takes at most about ten times as long as the largest ordinary list, and reads at most a few rows per unit of cost', async () => {
    const ask = await startWorld()
    const reference = largest(ordinary)
    const excessive: string[] = []
    for (const [name, who, field] of expensiveFields) {
      const document = largest(field)
      const [took = 0, ofRows = 0] = await leastOfEach([() => ask(document, who), () => ask(reference, 'merchant')])
      let cost = 0
      const { ran } = await watchStatements(async () => {
        cost = (await ask(document, who)).cost
      })
      const rows = ran.reduce((all, each) => all + each.rows, 0)
      const says = `${name} by the ${who}: ${took.toFixed(1)} ms, ${(took / ofRows).toFixed(1)} times ordinary rows; ${rows} rows for ${cost}`
      if (process.env.SHOW) process.stdout.write(`${says}\n`)
      if (took / ofRows > maxTimeRatio || rows > cost * maxRowRatio) excessive.push(says)
    }
    expect(excessive).toEqual([])
  }, 120_000)
})
