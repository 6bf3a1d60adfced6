import { buildSchema, Kind, parse } from 'graphql'
import { expect, test } from 'vitest'
import { prepareDocument } from '../../src/graphql/documents/prepare-document.ts'
import { createEngine } from '../../src/graphql/execution/engine.ts'
import { createPlan } from '../../src/graphql/plan/plan.ts'
import { createPlanCache, planAhead } from '../../src/graphql/plan/plan-cache.ts'
import { projectRows } from '../../src/graphql/plan/planning.ts'
import { conditionVariablesOf } from '../../src/graphql/plan/selection.ts'
import { createContext } from '../../src/operations/context.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'
import { startApp } from '../support/app.ts'

const plan = async () => '{}'

test('the plan cache is limited by the number of fields, and evicts the least recently used plans', () => {
  const plans = createPlanCache()
  const keys = Array.from({ length: 20 }, () => ({}))
  let planCount = 0
  const make = () => {
    planCount++
    return { plan, members: 10_000 }
  }
  const [first = {}, second = {}, ...others] = keys
  plans.memo(first, { context: make })
  plans.memo(second, { context: make })
  for (const key of others) {
    plans.memo(key, { context: make })
    plans.memo(first, { context: make })
  }
  expect(planCount).toBe(20)
  plans.memo(first, { context: make })
  expect(planCount).toBe(20)
  plans.memo(second, { context: make })
  expect(planCount).toBe(21)
})

test('a plan that exceeds the size of the plan cache is cached, and evicts all other plans', () => {
  const plans = createPlanCache()
  const [small, large] = [{}, {}]
  let planCount = 0
  const make = (members: number) => () => {
    planCount++
    return { plan, members }
  }
  plans.memo(small, { context: make(1) })
  plans.memo(large, { context: make(1_000_000) })
  plans.memo(large, { context: make(1_000_000) })
  expect(planCount).toBe(2)
  plans.memo(small, { context: make(1) })
  expect(planCount).toBe(3)
})

test('a document gets plans for at most 16 combinations of @include values, and graphql-js executes the other combinations', async () => {
  const app = await startApp('sqlite')
  const engine = createEngine(sandboxSchema, { executor: 'planned' })
  const names = ['a', 'b', 'c', 'd', 'e']
  const query = `query(${names.map((name) => `$${name}:Boolean!`)}){merchant{name ${names.map((name) => `${name}:uuid @include(if:$${name})`)}}}`
  const isPlanned = async (set: number) => {
    const variables = Object.fromEntries(names.map((name, bit) => [name, (set & (1 << bit)) !== 0]))
    const outcome = await engine.run(
      { query, operationName: null, variables },
      createContext(app.service, app.merchant.id),
    )
    return outcome !== null && 'dataText' in outcome.result
  }
  const planned = []
  for (let set = 0; set < 32; set++) planned.push(await isPlanned(set))
  expect(planned).toEqual(planned.map((_, set) => set < 16))
  expect(await isPlanned(3)).toBe(true)
})

test('an error during planning is not cached, so each request plans again', () => {
  const plans = createPlanCache()
  const key = {}
  const fail = () => {
    throw new Error('no plan')
  }
  for (let i = 0; i < 3; i++) expect(() => plans.memo(key, { context: fail })).toThrow('no plan')
})

test.each([
  [0, 1],
  [1, 2],
  [4, 16],
  [5, 0],
])('planAhead for an operation with %i @include conditions creates %i plans', (conditions, count) => {
  const names = Array.from({ length: conditions }, (_, i) => `c${i}`)
  const declared = names.length > 0 ? `(${names.map((name) => `$${name}: Boolean!`).join()})` : ''
  // Half of the conditions are in a fragment.
  const fieldsOf = (some: readonly string[]) => some.map((name) => `${name}: uuid @include(if: $${name})`).join(' ')
  const query = `query${declared} { merchant { name ${fieldsOf(names.slice(0, 2))} ...F } }
    fragment F on Merchant { id ${fieldsOf(names.slice(2))} }`
  const plans = createPlanCache()
  const document = prepareDocument(sandboxSchema, query, plans)
  if ('errors' in document) throw document.errors[0]
  expect(plans.size).toBe(0)
  for (const { node, planFor } of document.operations) planAhead(node, planFor, document.fragments)
  expect(plans.size).toBe(count)
  for (let set = 0; set < count; set++) {
    const coerced = Object.fromEntries(names.map((name, bit) => [name, (set & (1 << bit)) !== 0]))
    expect(document.operations[0]?.planFor({ sources: {}, coerced })).not.toBeNull()
  }
  expect(plans.size).toBe(count)
})

test('a fragment that is spread several times is visited once to find the variables of its @skip and @include conditions', () => {
  const document = parse('{ ...F ... { ...F } } fragment F on Query { merchant @skip(if: $a) { id @include(if: $b) } }')
  const [operation, fragment] = document.definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION || fragment?.kind !== Kind.FRAGMENT_DEFINITION) {
    throw new Error('no operation')
  }
  let visits = 0
  const fragments = {
    get F() {
      visits++
      return fragment
    },
  }
  expect(conditionVariablesOf(operation, fragments)).toEqual(['a', 'b'])
  expect(visits).toBe(1)
})

test('an error in the declaration of a field is thrown while planning', () => {
  const schema = buildSchema('type Query { a: Int }')
  const field = schema.getQueryType()?.getFields().a
  if (field) field.extensions = { fieldSource: { kind: 'unknown' } }
  const [operation] = parse('{ a }').definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation')
  expect(() => createPlan(operation, { schema, fragments: {}, conditions: {} })).toThrow(TypeError)
})

test('a subscription has no plan', () => {
  const plans = createPlanCache()
  const document = prepareDocument(sandboxSchema, 'subscription { payoutsChanged { status } }', plans)
  if ('errors' in document) throw document.errors[0]
  expect(document.operations.map(({ planFor }) => planFor({ sources: {}, coerced: {} }))).toEqual([null])
})

test('a plan rejects a further column after its projection has been built', () => {
  const chosen = { names: ['id'], key: 'id', forms: new Map() }
  const { rows, columns } = projectRows({ columns: () => chosen } as never, {})
  const cell = rows.requestColumn('id')
  columns()
  expect(cell).toEqual({ at: 0 })
  expect(() => rows.requestColumn('name')).toThrow('name is not in it')
})
