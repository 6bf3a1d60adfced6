import type { Context } from '../context.ts'

/** An operation that writes, as a door calls it. */
export type Writing<Input, Result> = (context: Context, input: Input) => Promise<Result>

/**
 * An operation that changes something: it runs here, or, where another process does the writing, over there.
 *
 * Its input and its result are plain data for that reason.
 *
 * @param name its own name, by which the other process finds it
 */
export function writing<Input, Result>(name: string, run: Writing<Input, Result>): Writing<Input, Result> {
  return (context, input) =>
    context.handOver === null ? run(context, input) : context.handOver<Input, Result>({ name, run }, context, input)
}
