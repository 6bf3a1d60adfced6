import type { VariableValues } from 'graphql'
import type { Answer } from '../../database/query.ts'
import type { GraphqlContext } from '../schema/graphql-context.ts'
import type { AlreadyDone } from '../schema/mutation.ts'

/** One request for which a plan runs. */
export type Run = {
  readonly context: GraphqlContext
  readonly variables: VariableValues
  /** What its mutation has come to, once it was begun. */
  done: AlreadyDone | null
}

/** JSON texts, one for each value. */
export type Texts = readonly string[]

/** Writes values of one place of the answer, all that there are of a level at once. */
export type Write = (values: readonly unknown[], run: Run) => Answer<Texts>

/** Stands for all that only graphql-js can answer; without a stack, because it is no fault. */
export const leftToGraphqlJs: Error = Object.freeze(
  Object.assign(Object.create(Error.prototype), { message: 'left to graphql-js' }),
)

/** Ends a plan, while it is made or while it runs. */
export function leaveToGraphqlJs(): never {
  throw leftToGraphqlJs
}

/** Has several write, and waits for those that need it. One that throws leaves no promise behind that nobody looks at. */
export function together(writes: readonly Write[], values: readonly unknown[], run: Run): Answer<readonly Texts[]> {
  const written: Answer<Texts>[] = []
  try {
    for (const write of writes) written.push(write(values, run))
  } catch (error) {
    Promise.allSettled(written)
    throw error
  }
  return written.some((texts) => texts instanceof Promise) ? Promise.all(written) : (written as readonly Texts[])
}
