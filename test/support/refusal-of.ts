import { expect } from 'vitest'
import { Refusal } from '../../src/core/errors.ts'

/** The refusal that an operation ends in; anything else that it does fails the test. */
export async function refusalOf(operation: () => unknown): Promise<Refusal> {
  try {
    await operation()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  return expect.unreachable('it was not refused')
}
