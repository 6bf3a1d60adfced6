import type { VariableValues } from 'graphql'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { GraphqlContext } from '../schema/graphql-context.ts'
import type { ExecutedMutation } from '../schema/mutation.ts'

/** One run of a plan, for one request. */
export type PlanRun = {
  readonly context: GraphqlContext
  readonly variables: VariableValues
  /** Set once the mutation has begun, so that it does not run again if graphql-js takes over. */
  executedMutation: ExecutedMutation | null
}

export type JsonTexts = readonly string[]

/** Writes all values of one position in the response, of all rows of its level together. */
export type WriteLevel = (values: readonly unknown[], run: PlanRun) => MaybePromise<JsonTexts>

/** Thrown for whatever only graphql-js can answer. It has no stack, because it is not a fault. */
export const graphqlJsFallback: Error = Object.freeze(
  Object.assign(Object.create(Error.prototype), { message: 'left to graphql-js' }),
)

/** Abandons a plan, while it is built or while it runs: graphql-js answers instead. */
export function fallBackToGraphqlJs(): never {
  throw graphqlJsFallback
}

/** Runs several writers. If one throws, the promises of the others are still handled. */
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
