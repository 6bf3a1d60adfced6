import { describe, expect, test, vi } from 'vitest'
import { monotonicNowMs, writeTimeoutMs } from '../../src/database/group-commit.ts'
import type { Tx } from '../../src/database/query.ts'
import { takeSequenceNumber } from '../../src/lists/sequence.ts'
import { insertMerchant } from '../../src/modules/merchants/repository.ts'
import { everyEngine } from '../support/app.ts'
import { openTestDatabaseOn } from './open-test-database.ts'
import { idOf, merchantRow } from './rows.ts'

const merchantId = idOf(1)
const takeNumber = (tx: Tx) => takeSequenceNumber(tx, merchantId, 'wallets:owner')

const tooLate = {
  code: 'UNAVAILABLE',
  message: 'This write waited too long and was not stored. Retry with the same idempotency key.',
}

describe.each(everyEngine)('an operation on %s', (engine) => {
  test('is rejected without running if its deadline has passed, and concurrent operations still run', async () => {
    const { db } = await openTestDatabaseOn(engine)
    await db.write((tx) => insertMerchant(tx, merchantRow(1)))
    const late = vi.fn(takeNumber)
    const write = (operation: typeof takeNumber, beginBy?: number) =>
      db.write(operation, { merchantId, ...(beginBy !== undefined && { deadlineMs: beginBy }) })

    // On PostgreSQL a merchant's first operation runs alone, and the others wait for it together.
    const outcome = await Promise.allSettled([
      write(takeNumber),
      write(late, monotonicNowMs() - 1),
      write(takeNumber, monotonicNowMs() + writeTimeoutMs),
    ])

    expect(outcome).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: expect.objectContaining(tooLate) },
      { status: 'fulfilled', value: 2 },
    ])
    await expect(write(late, monotonicNowMs() - 1)).rejects.toMatchObject(tooLate)
    expect(late).not.toHaveBeenCalled()
  })
})

test('the clock of deadlines counts the milliseconds of the monotonic clock of the machine', () => {
  const machineMs = () => Number(process.hrtime.bigint()) / 1e6
  const before = machineMs()
  const reading = monotonicNowMs()

  expect(reading).toBeGreaterThanOrEqual(before)
  expect(reading).toBeLessThanOrEqual(machineMs())
})
