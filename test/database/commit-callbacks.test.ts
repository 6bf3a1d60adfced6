import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import type { CommittedBatch } from '../../src/database/database.ts'
import { query, selectFrom } from '../../src/database/query.ts'
import { insertMerchant } from '../../src/modules/merchants/repository.ts'
import { everyEngine, newDatabase } from '../support/app.ts'
import { openTestDatabaseOn } from './open-test-database.ts'
import { idOf, merchantRow, upTo } from './rows.ts'

const merchantIds = query(() => selectFrom('merchants').select('id').orderBy('id'))

describe.each(everyEngine)('a committed write on %s', (engine) => {
  test('calls its onCommitted callback with the duration of the commit in seconds', async () => {
    const { db } = await openTestDatabaseOn(engine)
    const onCommitted = vi.fn()
    const startedAt = performance.now()

    await db.write((tx) => insertMerchant(tx, merchantRow(1)), { onCommitted })

    const elapsed = (performance.now() - startedAt) / 1_000
    const [[{ writes, seconds }]] = onCommitted.mock.calls as [[CommittedBatch]]
    expect(writes).toBe(1)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(elapsed)
  })

  test('returns its result and is not retried, even if its onCommitted callback throws', async () => {
    const { url, remove } = await newDatabase(engine)
    const faults: string[] = []
    const db = await openDatabase({ url, onFatal: ({ message }) => faults.push(message) })
    onTestFinished(async () => {
      await db.close()
      await remove()
    })
    const onCommitted = () => {
      throw new Error('the callback failed')
    }
    let runs = 0
    const writes = upTo(5).map((number) =>
      db.write(
        async (tx) => {
          runs++
          await insertMerchant(tx, merchantRow(number))
          return number
        },
        { merchantId: idOf(1), ...(number === 3 && { onCommitted }) },
      ),
    )

    expect(await Promise.all(writes)).toEqual(upTo(5))
    await expect.poll(() => faults).toEqual(['the callback failed'])
    expect(runs).toBe(5)
    expect(await db.write((tx) => merchantIds(tx, {}))).toHaveLength(5)
  })
})
