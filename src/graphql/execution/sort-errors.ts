import type {
  ExecutionResult,
  FragmentDefinitionNode,
  GraphQLError,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { mergeSelections } from '../documents/selection.ts'

/** A result with its errors in the order of the document, whichever of them came first. */
export function sortErrors(
  result: ExecutionResult,
  operation: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): ExecutionResult {
  if (!result.errors || result.errors.length < 2) return result
  const placed = result.errors.map((error) => ({ error, places: errorPositionOf(error, operation, fragments) }))
  placed.sort((one, other) => comparePositions(one.places, other.places))
  return { ...result, errors: placed.map(({ error }) => error) }
}

/** Where an error stands: the place of each step of its path, in its list or among the fields that are selected there. */
function errorPositionOf(
  { path }: GraphQLError,
  { selectionSet }: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): number[] {
  let sets: readonly SelectionSetNode[] = [selectionSet]
  return (path ?? []).map((step) => {
    if (typeof step === 'number') return step
    const { fields } = mergeSelections(sets, (name) => fragments[name])
    sets = (fields.get(step) ?? []).flatMap((field) => field.selectionSet ?? [])
    return [...fields.keys()].indexOf(step)
  })
}

function comparePositions(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((place, i) => place !== other[i])
  return at < 0 ? one.length - other.length : (one[at] ?? 0) - (other[at] ?? -1)
}
