import type { OperationDefinitionNode, VariableValues } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Asked } from './collect-fields.ts'
import { conditionsIn } from './collect-fields.ts'
import type { Made, Plan } from './plan.ts'
import { planOf } from './plan.ts'

/** The plan of an operation for a request with these variables; `null` where it is left to graphql-js. */
export type PlanFor = (variables: VariableValues) => Plan | null

/** Plans, each by an object that stands for an operation with its conditions. */
export type KeptPlans = LRUCache<object, Made, () => Made>

/**
 * What all plans that are kept may come to, in members of objects, of which each takes about 700 bytes. The length of a
 * document says nothing of it: a short one that spreads a fragment often has a plan of any size that the limits allow.
 */
const membersKept = 60_000

/** Keeps plans of `maxMembers` altogether; one that has more is kept alone. */
export function keepPlans(maxMembers: number = membersKept): KeptPlans {
  return new LRUCache({
    maxSize: maxMembers,
    sizeCalculation: ({ members }) => Math.min(members, maxMembers),
    memoMethod: (_key, _stale, { context: make }) => make(),
  })
}

/** Sets of values for an operation's conditions that are planned; clients know few, and whoever tries more is interpreted. */
const setsPlanned = 16

/** The plans of an operation, one for each set of values that its `@skip` and `@include` come to; each is made when it is needed. */
export function plansOf(
  operation: OperationDefinitionNode,
  asked: Omit<Asked, 'conditions'>,
  plans: KeptPlans,
): PlanFor {
  const names = conditionsIn(operation, asked.fragments)
  const keys = new Map<string, object>()
  const keyOf = (set: string) => {
    const known = keys.get(set)
    if (known !== undefined || keys.size === setsPlanned) return known ?? null
    const key = {}
    keys.set(set, key)
    return key
  }
  return ({ coerced }) => {
    const values = names.map((name) => coerced[name])
    // graphql-js says what is wrong with a condition.
    if (!values.every((value) => typeof value === 'boolean')) return null
    const key = keyOf(values.join())
    if (key === null) return null
    const make = () =>
      planOf(operation, {
        ...asked,
        conditions: new Map(names.map((name, place) => [name, values[place] as boolean])),
      })
    return plans.memo(key, { context: make }).plan
  }
}

/** Makes the plans of an operation before they are needed, but where there may be more than are kept of one. */
export function planAhead(operation: OperationDefinitionNode, planFor: PlanFor, fragments: Asked['fragments']): void {
  const names = conditionsIn(operation, fragments)
  const sets = 2 ** names.length
  if (sets > setsPlanned) return
  for (let set = 0; set < sets; set++) {
    const coerced = Object.fromEntries(names.map((name, bit) => [name, (set & (1 << bit)) !== 0]))
    planFor({ sources: {}, coerced })
  }
}
