import type { OperationDefinitionNode, VariableValues } from 'graphql'
import type { Made, Plan } from './plan.ts'
import { planOf } from './plan.ts'
import type { Asked } from './selected.ts'
import { conditionsIn } from './selected.ts'

/** The plan of an operation for a request with these variables; `null` where it is left to graphql-js. */
export type PlanFor = (variables: VariableValues) => Plan | null

/** The plans that are kept, each by an object that stands for an operation with its conditions. */
export type KeptPlans = { readonly get: (key: object, make: () => Made) => Plan | null }

/**
 * What all plans that are kept may come to, in members of objects, of which each takes about 700 bytes. The length of a
 * document says nothing of it: a short one that spreads a fragment often has a plan of any size that the limits allow.
 */
const membersKept = 60_000

/** Keeps plans of so many members, and drops for one more those that were not used for longest. */
export function keepPlans(most: number = membersKept): KeptPlans {
  // The order of a Map is that of insertion.
  const kept = new Map<object, Made>()
  let held = 0
  /** The one that was used last: it need not become the latest again. */
  let latest: { readonly key: object; readonly plan: Plan | null } | null = null
  return {
    get: (key, make) => {
      if (latest !== null && key === latest.key) return latest.plan
      const known = kept.get(key)
      if (known) kept.delete(key)
      const made = known ?? make()
      kept.set(key, made)
      if (!known) held += made.members
      for (const [oldest, { members }] of kept) {
        if (held <= most || oldest === key) break
        kept.delete(oldest)
        held -= members
      }
      latest = { key, plan: made.plan }
      return made.plan
    },
  }
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
    return plans.get(key, () =>
      planOf(operation, {
        ...asked,
        conditions: new Map(names.map((name, place) => [name, values[place] as boolean])),
      }),
    )
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
