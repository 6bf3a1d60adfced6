import type { OperationDefinitionNode, VariableValues } from 'graphql'
import type { Plan } from './plan.ts'
import { planOf } from './plan.ts'
import type { Asked } from './selected.ts'
import { conditionsIn } from './selected.ts'

/** The plan of an operation for a request with these variables; `null` where it is left to graphql-js. */
export type PlanFor = (variables: VariableValues) => Plan | null

/** Plans of one operation that are kept: clients know few sets of values for its conditions. */
const plansKept = 4

/** The plans of an operation, one for each set of values that its `@skip` and `@include` come to; each is made when it is needed. */
export function plansOf(operation: OperationDefinitionNode, asked: Omit<Asked, 'conditions'>): PlanFor {
  const names = conditionsIn(operation, asked.fragments)
  const plans = new Map<string, Plan | null>()
  return ({ coerced }) => {
    const values = names.map((name) => coerced[name])
    // graphql-js says what is wrong with a condition.
    if (!values.every((value) => typeof value === 'boolean')) return null
    const key = values.join()
    const known = plans.get(key)
    if (known !== undefined) return known
    const conditions = new Map(names.map((name, place) => [name, values[place] as boolean]))
    const plan = planOf(operation, { ...asked, conditions })
    for (const oldest of plans.keys()) if (plans.size >= plansKept) plans.delete(oldest)
    plans.set(key, plan)
    return plan
  }
}
