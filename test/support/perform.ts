import type { Context, IdempotentResult, Operation } from '../../src/operations/context.ts'

/** Runs an operation that writes and returns its result. */
export async function perform<Input, Result>(
  operation: Operation<Input, IdempotentResult<Result>>,
  context: Context,
  input: Input,
): Promise<Result> {
  const { result } = await context.perform(operation, context, input)
  return result
}
