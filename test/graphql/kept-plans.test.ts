import { expect, test } from 'vitest'
import { createContext } from '../../src/context.ts'
import { createEngine } from '../../src/graphql/engine.ts'
import { keepPlans } from '../../src/graphql/plan/plans.ts'
import { sandboxSchema } from '../../src/server/graphql-schema.ts'
import { startApp } from '../support/app.ts'

const plan = async () => '{}'

test('plans are kept up to a number of members, and those go first that were not used for longest', () => {
  const plans = keepPlans()
  const keys = Array.from({ length: 20 }, () => ({}))
  let made = 0
  const make = () => {
    made++
    return { plan, members: 10_000 }
  }
  const [first = {}, second = {}, ...others] = keys
  plans.memo(first, { context: make })
  plans.memo(second, { context: make })
  for (const key of others) {
    plans.memo(key, { context: make })
    plans.memo(first, { context: make })
  }
  expect(made).toBe(20)
  plans.memo(first, { context: make })
  expect(made).toBe(20)
  plans.memo(second, { context: make })
  expect(made).toBe(21)
})

test('one plan that is larger than all may be is kept alone', () => {
  const plans = keepPlans()
  const [small, large] = [{}, {}]
  let made = 0
  const make = (members: number) => () => {
    made++
    return { plan, members }
  }
  plans.memo(small, { context: make(1) })
  plans.memo(large, { context: make(1_000_000) })
  plans.memo(large, { context: make(1_000_000) })
  expect(made).toBe(2)
  plans.memo(small, { context: make(1) })
  expect(made).toBe(3)
})

test('more sets of conditions than clients know are interpreted, and those that came first stay planned', async () => {
  const app = await startApp('sqlite')
  const engine = createEngine(sandboxSchema, { isPlanned: true })
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

test('a plan whose making fails is made again, each time', () => {
  const plans = keepPlans()
  const key = {}
  const fail = () => {
    throw new Error('no plan')
  }
  for (let i = 0; i < 3; i++) expect(() => plans.memo(key, { context: fail })).toThrow('no plan')
})
