import type { FieldNode } from 'graphql'
import { BREAK, getArgumentValues, visit } from 'graphql'
import { frozen } from '../schema/frozen.ts'
import type { Place } from './planning.ts'
import type { Run } from './runtime.ts'

/**
 * What gives the arguments of a field: once and for all, where no variable stands in them. Those serve every request, so
 * nobody may change them.
 */
export function argumentsAt({ field, node }: Pick<Place, 'field' | 'node'>): (run: Pick<Run, 'variables'>) => object {
  if (hasVariables(node)) return ({ variables }) => getArgumentValues(field, node, variables)
  const given = frozen(getArgumentValues(field, node))
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
