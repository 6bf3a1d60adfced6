import type { OperationDefinitionNode, VariableValues } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Plan, SizedPlan } from './plan.ts'
import { createPlan } from './plan.ts'
import type { Fragments, SelectionContext } from './selection.ts'
import { conditionVariablesOf } from './selection.ts'

/** Returns the plan of an operation for a request's variables; null if graphql-js must run it. */
export type PlanFor = (variables: VariableValues) => Plan | null

/** A least-recently-used cache of plans. The key object stands for an operation and one set of its conditions. */
export type PlanCache = LRUCache<object, SizedPlan, () => SizedPlan>

/**
 * Limits the size of all cached plans together, in members of objects of about 700 bytes each. The length of a document
 * is no measure: a short one that spreads a fragment often can have a plan of any size within the limits.
 */
const defaultMaxMembers = 60_000

export function createPlanCache(maxMembers: number = defaultMaxMembers): PlanCache {
  return new LRUCache({
    maxSize: maxMembers,
    // A plan above the limit is cached alone.
    sizeCalculation: ({ members }) => Math.min(members, maxMembers),
    memoMethod: (_key, _stale, { context: create }) => create(),
  })
}

/** Sets of conditions planned for one operation. Clients use few; graphql-js runs the operation for any further set. */
const maxConditionSets = 16

/** Plans an operation for each set of its `@skip` and `@include` values, when a request first needs it. */
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
    // graphql-js reports a condition that is null.
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

/** Builds all plans of an operation in advance, unless it has more sets of conditions than are planned. */
export function planAhead(operation: OperationDefinitionNode, planFor: PlanFor, fragments: Fragments): void {
  const names = conditionVariablesOf(operation, fragments)
  const setCount = 2 ** names.length
  if (setCount > maxConditionSets) return
  for (let set = 0; set < setCount; set++) {
    const coerced = Object.fromEntries(names.map((name, bit) => [name, (set & (1 << bit)) !== 0]))
    planFor({ sources: {}, coerced })
  }
}
