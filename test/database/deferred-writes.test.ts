import { describe, expect, test } from 'vitest'
import { deferredWrites } from '../../src/database/group-commit.ts'
import type { Tx } from '../../src/database/query.ts'

const tx = {} as Tx

/** Defines a deferred number that starts at `first` and increments by one; counts reads and records stored values. */
function counter(first: number | Promise<number> = 10) {
  const seen = { reads: 0, stored: [] as number[] }
  const read = () => {
    seen.reads++
    return first
  }
  return {
    seen,
    read,
    next: (value: number) => value + 1,
    store: (_: Tx, value: number) => void seen.stored.push(value),
  }
}

describe('a value that is stored at COMMIT', () => {
  test('is read once and stored once for any number of changes', async () => {
    const pending = deferredWrites()
    const { seen, ...how } = counter()
    expect(pending.isEmpty()).toBe(true)

    expect([1, 2, 3].map(() => pending.update('x', how))).toEqual([11, 12, 13])
    expect(pending.isEmpty()).toBe(false)
    await pending.store(tx)

    expect(seen).toEqual({ reads: 1, stored: [13] })
  })

  test('is read from the database once, even if several operations lock the row of the value', () => {
    const pending = deferredWrites()
    const { seen, ...how } = counter()

    pending.lock('x', how.read)
    pending.lock('x', how.read)
    expect(pending.update('x', how)).toBe(11)
    pending.lock('x', how.read)
    expect(pending.update('x', how)).toBe(12)

    expect(seen.reads).toBe(1)
  })

  test('is not read again if an operation locks it after a change', () => {
    const pending = deferredWrites()
    const { seen, ...how } = counter()

    pending.update('x', how)
    pending.lock('x', how.read)

    expect(seen.reads).toBe(1)
  })

  test('makes every change fail if the value cannot be read, without an unhandled rejection', async () => {
    const pending = deferredWrites()
    const { seen, ...how } = counter(Promise.reject(new Error('away')))

    // An unhandled rejection would end the process.
    pending.lock('x', how.read)
    await new Promise(setImmediate)

    await expect(pending.update('x', how)).rejects.toThrow('away')
    expect(seen.reads).toBe(1)
  })

  test('is changed sequentially by two operations that arrive while the value is being read', async () => {
    const pending = deferredWrites()
    const { seen, ...how } = counter(Promise.resolve(10))

    expect(await Promise.all([pending.update('x', how), pending.update('x', how)])).toEqual([11, 12])
    await pending.store(tx)

    expect(seen.stored).toEqual([12])
  })

  test('keeps the changes of earlier operations, and discards the changes of a failed operation', async () => {
    const pending = deferredWrites()
    const [x, y] = [counter(), counter(20)]
    pending.begin()
    pending.update('x', x)
    pending.begin()
    pending.update('x', x)
    pending.update('x', x)
    pending.update('y', y)

    pending.undo()
    pending.undo()
    await pending.store(tx)

    expect([x.seen.stored, y.seen.stored]).toEqual([[11], []])
    pending.begin()
    expect([pending.update('x', x), pending.update('y', y)]).toEqual([12, 21])
  })

  test('is not stored if the only operation that changed the value failed', () => {
    const pending = deferredWrites()
    pending.begin()
    pending.update('x', counter())

    pending.undo()

    expect(pending.isEmpty()).toBe(true)
  })
})
