import type { VariableValues } from 'graphql'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { GraphqlContext } from '../schema/graphql-context.ts'
import type { ExecutedMutation } from '../schema/mutation.ts'

/** One request for which a plan runs. */
export type PlanRun = {
  readonly context: GraphqlContext
  readonly variables: VariableValues
  /** What its mutation has come to, once it was begun. */
  executedMutation: ExecutedMutation | null
}

/** JSON texts, one for each value. */
export type JsonTexts = readonly string[]

/** Writes values of one place of the answer, all that there are of a level at once. */
export type WriteLevel = (values: readonly unknown[], run: PlanRun) => MaybePromise<JsonTexts>

/** Stands for all that only graphql-js can answer; without a stack, because it is no fault. */
export const graphqlJsFallback: Error = Object.freeze(
  Object.assign(Object.create(Error.prototype), { message: 'left to graphql-js' }),
)

/** Ends a plan, while it is made or while it runs. */
export function fallBackToGraphqlJs(): never {
  throw graphqlJsFallback
}

/** Has several write, and waits for those that need it. One that throws leaves no promise behind that nobody looks at. */
export function writeAll(
  writes: readonly WriteLevel[],
  values: readonly unknown[],
  run: PlanRun,
): MaybePromise<readonly JsonTexts[]> {
  const written: MaybePromise<JsonTexts>[] = []
  try {
    for (const write of writes) written.push(write(values, run))
  } catch (error) {
    Promise.allSettled(written)
    throw error
  }
  return written.some((texts) => texts instanceof Promise) ? Promise.all(written) : (written as readonly JsonTexts[])
}
