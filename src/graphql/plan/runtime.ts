import type { VariableValues } from 'graphql'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { GraphqlContext } from '../schema/graphql-context.ts'
import type { ExecutedMutation } from '../schema/mutation.ts'

export type PlanRun = {
  readonly context: GraphqlContext
  readonly variables: VariableValues
  /** `executedMutation` is set when the mutation begins, so that graphql-js does not run the mutation again. */
  executedMutation: ExecutedMutation | null
}

export type JsonTexts = readonly string[]

export type WriteLevel = (values: readonly unknown[], run: PlanRun) => MaybePromise<JsonTexts>

/** Thrown if graphql-js must execute the operation. The error is not a fault, so it has no stack trace. */
export const graphqlJsFallback: Error = Object.freeze(
  Object.assign(Object.create(Error.prototype), { message: 'left to graphql-js' }),
)

export function fallBackToGraphqlJs(): never {
  throw graphqlJsFallback
}

/** If a writer throws, a rejected promise of another writer must not become an unhandled rejection. */
export function writeAll(
  writers: readonly WriteLevel[],
  values: readonly unknown[],
  run: PlanRun,
): MaybePromise<readonly JsonTexts[]> {
  const results: MaybePromise<JsonTexts>[] = []
  try {
    for (const write of writers) results.push(write(values, run))
  } catch (error) {
    Promise.allSettled(results)
    throw error
  }
  return results.some((texts) => texts instanceof Promise) ? Promise.all(results) : (results as readonly JsonTexts[])
}
