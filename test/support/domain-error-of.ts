import { expect } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'

/** Returns the domain error of an operation; any other outcome fails the test. */
export async function domainErrorOf(operation: () => unknown): Promise<DomainError> {
  try {
    await operation()
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  return expect.unreachable('it was not refused')
}
