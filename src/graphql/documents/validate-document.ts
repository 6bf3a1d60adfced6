import type { GraphQLSchema, OperationDefinitionNode } from 'graphql'
import { Kind } from 'graphql'
import { createPlanCache } from '../plan/plan-cache.ts'
import { limits } from './limits.ts'
import { prepareDocument } from './prepare-document.ts'

/** What is wrong with a document whatever its variables are, in sentences without their full stop; none where it can be run. */
export function documentErrors(schema: GraphQLSchema, text: string): readonly string[] {
  if (text.trim() === '') return ['must not be empty']
  const document = prepareDocument(schema, text, createPlanCache())
  if ('errors' in document) return document.errors.map(({ message }) => `is refused: ${message.replace(/\.$/, '')}`)
  if (document.operations.length === 0) return ['is refused: it holds no operation']
  return document.operations.flatMap(({ node, cost }) => {
    const least = cost(cheapestVariables(node))
    const called = node.name ? `its operation ${node.name.value}` : 'its operation'
    return least > limits.cost ? [`is refused: ${called} costs ${least} at least, and may cost ${limits.cost}`] : []
  })
}

/** Variables by which an operation costs least: no list has a size, where it depends on them. */
function cheapestVariables({ variableDefinitions = [] }: OperationDefinitionNode): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    variableDefinitions.map(({ variable, type }) => {
      const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type
      return [variable.name.value, inner.kind === Kind.LIST_TYPE ? [] : 0]
    }),
  )
}
