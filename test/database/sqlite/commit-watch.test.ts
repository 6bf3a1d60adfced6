import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { commitWatch } from '../../../src/database/sqlite/sqlite-reader.ts'
import type { TableName } from '../../../src/database/tables.ts'

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
})

/** Creates a watch of table versions that the test sets; `null` stands for an unreadable file. */
function watched() {
  const versions: Partial<Record<TableName, number | null>> = { events: 1, payouts: 1 }
  const watch = commitWatch((table) => {
    const version = versions[table]
    if (version == null) throw new Error('no such file')
    return version
  })
  onTestFinished(watch.close)
  const calls: string[] = []
  return { versions, watch, calls, follow: (table: TableName) => watch.watch(table, () => calls.push(table)) }
}

describe('the commit watch', () => {
  test('calls the watchers of a table once, within 100 ms after another process has changed the table', () => {
    const { versions, calls, follow } = watched()
    follow('events')
    follow('payouts')
    vi.advanceTimersByTime(1_000)
    expect(calls).toEqual([])

    versions.events = 2
    vi.advanceTimersByTime(100)
    expect(calls).toEqual(['events'])
    vi.advanceTimersByTime(1_000)
    expect(calls).toEqual(['events'])
  })

  test('calls watchers once, immediately after this process has committed', () => {
    const { versions, watch, calls, follow } = watched()
    follow('events')

    versions.events = 2
    watch.pollSoon()
    watch.pollSoon()
    expect(calls).toEqual([])
    vi.advanceTimersByTime(0)
    expect(calls).toEqual(['events'])

    versions.events = 3
    watch.pollSoon()
    vi.advanceTimersByTime(0)
    expect(calls).toEqual(['events', 'events'])
  })

  test('does not call a stopped watcher, and still calls the other watchers', () => {
    const { versions, calls, follow } = watched()
    const stop = follow('events')
    follow('payouts')
    stop()

    versions.events = versions.payouts = 2
    vi.advanceTimersByTime(100)

    expect(calls).toEqual(['payouts'])
  })

  test('runs its timer only while there are watchers', () => {
    const { versions, watch, calls, follow } = watched()
    expect(vi.getTimerCount()).toBe(0)
    const stop = follow('events')
    expect(vi.getTimerCount()).toBe(1)
    watch.pollSoon()
    stop()
    watch.pollSoon()
    expect(vi.getTimerCount()).toBe(0)

    follow('events')
    versions.events = 2
    vi.advanceTimersByTime(100)
    expect(calls).toEqual(['events'])
  })

  test('calls watchers immediately after a commit, even if an earlier watcher stopped before its poll', () => {
    const { versions, watch, calls, follow } = watched()
    const stop = follow('events')
    watch.pollSoon()
    stop()
    follow('events')

    versions.events = 2
    watch.pollSoon()
    vi.advanceTimersByTime(0)

    expect(calls).toEqual(['events'])
  })

  test('calls watchers when the file becomes unreadable, and when it becomes readable again', () => {
    const { versions, calls, follow } = watched()
    follow('events')

    versions.events = null
    vi.advanceTimersByTime(100)
    expect(calls).toHaveLength(1)
    versions.events = 1
    vi.advanceTimersByTime(100)
    expect(calls).toHaveLength(2)
  })
})
