import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tables } from '../../src/database/tables.ts'
import { checksumOfValues } from '../../src/payouts/contents.ts'

/** How many columns the first checksums were made of. */
const first = 27

test('a column that a table gains is no part of the checksums of rows from before, and of those after', () => {
  const values = fc.array(fc.option(fc.string({ minLength: 1 })), { minLength: first, maxLength: first })
  fc.assert(
    fc.property(values, fc.string({ minLength: 1 }), (earlier, added) => {
      const checksum = checksumOfValues(earlier)
      expect(checksumOfValues([...earlier, null])).toBe(checksum)
      expect(checksumOfValues([...earlier, null, null])).toBe(checksum)
      expect(checksumOfValues([...earlier, added])).not.toBe(checksum)
      expect(checksumOfValues([...earlier, null, added])).not.toBe(checksumOfValues([...earlier, added, null]))
    }),
  )
})

test('the columns of the first checksums are where they were', () => {
  const changing = ['status', 'receiverWalletId', 'cryptoTransactionId', 'network', 'address', 'fiatReferenceId']
  const lasting = Object.keys(tables.payouts).filter((name) => ![...changing, 'updatedAt', 'checksum'].includes(name))
  expect(lasting[first - 1]).toBe('payoutMethodId')
})
