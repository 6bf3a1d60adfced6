import { expect, test } from 'vitest'
import { formatDomainError, invalidInput } from '../../../src/core/errors.ts'

test("an error has field names in the caller's spelling, including names such as __proto__", () => {
  const faults = ['customerId', '__proto__', 'toString'].map((field) => ({
    field,
    code: 'INVALID_PARAMETER' as const,
    message: 'must be given once',
  }))
  const { fields, message } = formatDomainError(invalidInput(faults), { customerId: 'customer_id' })
  expect(fields?.map(({ field }) => field)).toEqual(['customer_id', '__proto__', 'toString'])
  expect(message).toContain('__proto__ must be given once')
})
