import type { VariableValues } from 'graphql'
import type { GraphqlContext } from '../graphql-context.ts'
import type { AlreadyDone } from '../mutation.ts'

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
export type Write = (values: readonly unknown[], run: Run) => Texts | Promise<Texts>

/** Stands for all that only graphql-js can answer; without a stack, because it is no fault. */
export const leftToGraphqlJs: Error = Object.freeze(
  Object.assign(Object.create(Error.prototype), { message: 'left to graphql-js' }),
)

/** Ends a plan, while it is made or while it runs. */
export function leaveToGraphqlJs(): never {
  throw leftToGraphqlJs
}

/** Goes on with what is there, or will be: most places need not wait for anything. */
export function afterwards<Value, Next>(
  value: Value | Promise<Value>,
  next: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Has several write, and waits for those that need it. One that throws leaves no promise behind that nobody looks at. */
export function together(
  writes: readonly Write[],
  values: readonly unknown[],
  run: Run,
): readonly Texts[] | Promise<Texts[]> {
  const written: (Texts | Promise<Texts>)[] = []
  try {
    for (const write of writes) written.push(write(values, run))
  } catch (error) {
    Promise.allSettled(written)
    throw error
  }
  return written.some((texts) => texts instanceof Promise) ? Promise.all(written) : (written as readonly Texts[])
}
