import type { FieldNode } from 'graphql'
import { BREAK, getArgumentValues, visit } from 'graphql'
import { deepFreeze } from '../schema/deep-freeze.ts'
import type { PlannedField } from './planning.ts'
import type { PlanRun } from './runtime.ts'

/**
 * What gives the arguments of a field: once and for all, where no variable stands in them. Those serve every request, so
 * nobody may change them.
 */
export function argumentsReader({
  field,
  node,
}: Pick<PlannedField, 'field' | 'node'>): (run: Pick<PlanRun, 'variables'>) => object {
  if (hasVariables(node)) return ({ variables }) => getArgumentValues(field, node, variables)
  const given = deepFreeze(getArgumentValues(field, node))
  return () => given
}

function hasVariables({ arguments: given = [] }: FieldNode): boolean {
  let isSo = false
  const Variable = () => {
    isSo = true
    return BREAK
  }
  for (const argument of given) visit(argument, { Variable })
  return isSo
}
