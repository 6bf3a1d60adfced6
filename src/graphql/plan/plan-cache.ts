import type { OperationDefinitionNode, VariableValues } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Plan, SizedPlan } from './plan.ts'
import { createPlan } from './plan.ts'
import type { Fragments, SelectionContext } from './selection.ts'
import { conditionVariablesOf } from './selection.ts'

/** Returns null if graphql-js must execute the operation. */
export type PlanFor = (variables: VariableValues) => Plan | null

export type PlanCache = LRUCache<object, SizedPlan, () => SizedPlan>

/**
 * The maximum size of all cached plans together, in members of JSON objects. A member uses about 700 bytes. Even a
 * short document can have a large plan, if the document spreads a fragment many times.
 */
const defaultMaxMembers = 60_000

export function createPlanCache(maxMembers: number = defaultMaxMembers): PlanCache {
  return new LRUCache({
    maxSize: maxMembers,
    // A plan that exceeds the limit evicts all other plans.
    sizeCalculation: ({ members }) => Math.min(members, maxMembers),
    memoMethod: (_key, _stale, { context: create }) => create(),
  })
}

/**
 * The maximum number of plans per operation, one for each combination of values for `@skip` and `@include`. graphql-js
 * executes operations with further combinations.
 */
const maxConditionSets = 16

export function createPlanLookup(
  operation: OperationDefinitionNode,
  document: Omit<SelectionContext, 'conditions'>,
  plans: PlanCache,
): PlanFor {
  const names = conditionVariablesOf(operation, document.fragments)
  const keys = new Map<string, object>()
  const cacheKeyOf = (set: string) => {
    const known = keys.get(set)
    if (known !== undefined || keys.size === maxConditionSets) return known ?? null
    const key = {}
    keys.set(set, key)
    return key
  }
  return ({ coerced }) => {
    const values = names.map((name) => coerced[name])
    // graphql-js reports an error if a variable in `@skip` or `@include` is null.
    if (!values.every((value) => typeof value === 'boolean')) return null
    const key = cacheKeyOf(values.join())
    if (key === null) return null
    const create = () => {
      const conditions = Object.fromEntries(names.map((name, i) => [name, values[i]]))
      return createPlan(operation, { ...document, conditions })
    }
    return plans.memo(key, { context: create }).plan
  }
}

export function planAhead(operation: OperationDefinitionNode, planFor: PlanFor, fragments: Fragments): void {
  const names = conditionVariablesOf(operation, fragments)
  const setCount = 2 ** names.length
  if (setCount > maxConditionSets) return
  for (let set = 0; set < setCount; set++) {
    const coerced = Object.fromEntries(names.map((name, bit) => [name, (set & (1 << bit)) !== 0]))
    planFor({ sources: {}, coerced })
  }
}
