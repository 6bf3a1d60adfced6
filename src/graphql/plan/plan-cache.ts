import type { OperationDefinitionNode, VariableValues } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Plan, SizedPlan } from './plan.ts'
import { createPlan } from './plan.ts'
import type { SelectionContext } from './selection.ts'
import { conditionVariablesOf } from './selection.ts'

/** The plan of an operation for a request with these variables; `null` where it is left to graphql-js. */
export type PlanFor = (variables: VariableValues) => Plan | null

/** Plans, each by an object that stands for an operation with its conditions. */
export type PlanCache = LRUCache<object, SizedPlan, () => SizedPlan>

/**
 * What all plans that are kept may come to, in members of objects, of which each takes about 700 bytes. The length of a
 * document says nothing of it: a short one that spreads a fragment often has a plan of any size that the limits allow.
 */
const defaultMaxMembers = 60_000

/** Keeps plans of `maxMembers` altogether; one that has more is kept alone. */
export function createPlanCache(maxMembers: number = defaultMaxMembers): PlanCache {
  return new LRUCache({
    maxSize: maxMembers,
    sizeCalculation: ({ members }) => Math.min(members, maxMembers),
    memoMethod: (_key, _stale, { context: make }) => make(),
  })
}

/** Sets of values for an operation's conditions that are planned; clients know few, and whoever tries more is interpreted. */
const maxConditionSets = 16

/** The plans of an operation, one for each set of values that its `@skip` and `@include` come to; each is made when it is needed. */
export function createPlanLookup(
  operation: OperationDefinitionNode,
  asked: Omit<SelectionContext, 'conditions'>,
  plans: PlanCache,
): PlanFor {
  const names = conditionVariablesOf(operation, asked.fragments)
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
    // graphql-js says what is wrong with a condition.
    if (!values.every((value) => typeof value === 'boolean')) return null
    const key = cacheKeyOf(values.join())
    if (key === null) return null
    const make = () =>
      createPlan(operation, {
        ...asked,
        conditions: new Map(names.map((name, place) => [name, values[place] as boolean])),
      })
    return plans.memo(key, { context: make }).plan
  }
}

/** Makes the plans of an operation before they are needed, but where there may be more than are kept of one. */
export function planAhead(
  operation: OperationDefinitionNode,
  planFor: PlanFor,
  fragments: SelectionContext['fragments'],
): void {
  const names = conditionVariablesOf(operation, fragments)
  const sets = 2 ** names.length
  if (sets > maxConditionSets) return
  for (let set = 0; set < sets; set++) {
    const coerced = Object.fromEntries(names.map((name, bit) => [name, (set & (1 << bit)) !== 0]))
    planFor({ sources: {}, coerced })
  }
}
