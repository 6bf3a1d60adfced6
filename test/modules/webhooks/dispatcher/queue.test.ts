import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { QueueEntry } from '../../../../src/modules/webhooks/dispatcher/queue.ts'
import { createDeliveryQueue, maxOpen } from '../../../../src/modules/webhooks/dispatcher/queue.ts'

type Attempted = { readonly item: QueueEntry; readonly isOver: boolean }
type Step = (typeof steps)[number]

/** The concurrent steps: attempts, their recording and its confirmation, and reads of the feed. */
const steps = ['begin', 'succeed', 'fail', 'commit', 'hear', 'read due', 'read feed', 'take'] as const

const [mostAtOnce, feedRead, fewOpen] = [4, 16, 8]

/**
 * Simulates a queue with its database, and throws as soon as an attempt starts that must still wait.
 *
 * @param objects the objects of the feed's events, in order
 * @param past whether each earlier attempted event is finished, from the first on
 */
function startWorld(objects: readonly number[], past: readonly boolean[]) {
  const feed = objects.map((object, place): QueueEntry => ({ sequence: place + 1, objectId: `object ${object}` }))
  /** The stored states of deliveries: finished, due, or waiting for another event of the object. */
  const stored = new Map<number, 'over' | 'due' | 'waiting'>()
  let attempted: Attempted[] = []
  let waiting: QueueEntry[] = []
  let unheard: { recorded: readonly QueueEntry[]; pending: ReadonlySet<string> } | null = null
  let take: (() => void) | null = null
  let position = Math.min(past.length, feed.length)
  const inFlight: QueueEntry[] = []
  let held: QueueEntry | undefined
  const queue = createDeliveryQueue<QueueEntry>((items) => waiting.push(...items))
  const isPending = ({ sequence }: QueueEntry) => stored.has(sequence) && stored.get(sequence) !== 'over'
  const firstPendingOf = (objectId: string) => feed.find((each) => each.objectId === objectId && isPending(each))
  const isOver = ({ sequence }: QueueEntry) => stored.get(sequence) === 'over'

  for (const { sequence, objectId } of feed.slice(0, position)) {
    const isFirst = firstPendingOf(objectId) === undefined
    stored.set(sequence, past[sequence - 1] ? 'over' : isFirst ? 'due' : 'waiting')
  }

  function begin(): boolean {
    const item = inFlight.length < mostAtOnce ? queue.takeNext() : null
    if (item === null) return false
    const ofObject = feed.filter(({ objectId }) => objectId === item.objectId)
    expect(ofObject.filter((each) => each.sequence < item.sequence && !isOver(each))).toEqual([])
    expect(inFlight.filter(({ objectId }) => objectId === item.objectId)).toEqual([])
    expect(isOver(item)).toBe(false)
    inFlight.push(item)
    return true
  }

  function end(place: number, isOver: boolean): void {
    const others = inFlight.filter((each) => each !== held)
    const item = others[place % others.length]
    if (item === undefined) return
    inFlight.splice(inFlight.indexOf(item), 1)
    queue.finish(item)
    attempted.push({ item, isOver })
  }

  /** Records as `recordAttempts` does. */
  function commit(): void {
    if (unheard !== null) return
    const recorded = [...attempted.map(({ item }) => item), ...waiting]
    for (const { sequence } of waiting) stored.set(sequence, 'waiting')
    for (const { item, isOver } of attempted) stored.set(item.sequence, isOver ? 'over' : 'due')
    const pending = new Set<string>()
    for (const { objectId } of recorded) {
      const first = firstPendingOf(objectId)
      if (first === undefined) continue
      stored.set(first.sequence, 'due')
      pending.add(objectId)
    }
    attempted = []
    waiting = []
    unheard = { recorded, pending }
  }

  function hear(): void {
    if (unheard !== null) queue.markRecorded(unheard.recorded, unheard.pending)
    unheard = null
  }

  function readDue(): void {
    queue.startReadingRetries()
    const due = feed.filter((each) => stored.get(each.sequence) === 'due' && firstPendingOf(each.objectId) === each)
    take = () => {
      for (const { sequence, objectId } of due) {
        if (!queue.hasRetry(sequence) && !queue.isStale(objectId)) queue.addRetry({ sequence, objectId })
      }
    }
  }

  function readFeed(): void {
    if (queue.openCount() >= (queue.isBlocked() ? maxOpen : fewOpen)) return
    const events = feed.slice(position, position + feedRead)
    const pending = events.map(({ objectId }) => objectId).filter((objectId) => firstPendingOf(objectId))
    const fresh = events.filter((each) => !isPending(each))
    position += events.length
    take = () => queue.addOpen(fresh, pending)
  }

  function takeRead(): void {
    take?.()
    take = null
  }

  const doing: Record<Step, (choice: number) => void> = {
    begin,
    succeed: (choice) => end(choice, true),
    fail: (choice) => end(choice, false),
    commit,
    hear,
    'read due': () => (take === null ? readDue() : undefined),
    'read feed': () => (take === null ? readFeed() : undefined),
    take: takeRead,
  }

  /** Runs until nothing changes; every attempt except held ones succeeds. */
  function drain(): void {
    for (let idle = 0; idle < 3; idle++) {
      if (unheard !== null && unheard.recorded.length > 0) idle = 0
      hear()
      takeRead()
      readDue()
      takeRead()
      const before = position
      readFeed()
      takeRead()
      if (position > before) idle = 0
      while (begin()) idle = 0
      for (let count = inFlight.length; count > 0; count--) end(0, true)
      commit()
    }
  }

  return {
    drain,
    /** Holds one attempt in flight forever, and returns its object's events. */
    hold: () => {
      held = inFlight[0]
      return feed.filter(({ objectId }) => objectId === held?.objectId)
    },
    notOver: () => feed.filter((each) => !isOver(each)),
    step: (step: Step, choice: number) => doing[step](choice),
  }
}

const objects = fc.array(fc.nat(3), { maxLength: 200, size: 'max' })
const past = fc.array(fc.boolean(), { maxLength: 20 })
const happenings = fc.array(fc.tuple(fc.constantFrom(...steps), fc.nat(mostAtOnce - 1)), {
  maxLength: 400,
  size: 'max',
})

test('every queued event is attempted once, after all earlier events of its object are finished', () => {
  fc.assert(
    fc.property(objects, past, happenings, (objects, past, happenings) => {
      const { step, drain, notOver } = startWorld(objects, past)
      for (const [what, choice] of happenings) step(what, choice)
      drain()
      expect(notOver()).toEqual([])
    }),
  )
})

// More events of one object than the queue keeps open.
const backlog = fc.constantFrom(1, 1, 1, maxOpen + 10)

test('events never wait for a hanging attempt of another object', () => {
  fc.assert(
    fc.property(backlog, objects, happenings, (backlog, objects, happenings) => {
      const { hold, step, drain, notOver } = startWorld([...Array(backlog).fill(0), ...objects], [])
      for (const what of ['read feed', 'take', 'begin'] as const) step(what, 0)
      const own = hold()
      for (const [what, choice] of happenings) step(what, choice)
      drain()
      expect(notOver()).toEqual(own)
    }),
  )
})

/** Creates a queue that records the sequences of deferred events. */
function startQueue() {
  const deferred: number[] = []
  const queue = createDeliveryQueue<QueueEntry>((items) => {
    expect(items).not.toEqual([])
    deferred.push(...items.map(({ sequence }) => sequence))
  })
  const event = (sequence: number, objectId: string) => ({ sequence, objectId })
  return { queue, deferred, event, next: () => queue.takeNext()?.sequence ?? null }
}

test('the queue alternates between retries and new events', () => {
  const { queue, event, next } = startQueue()
  queue.addOpen([event(5, 'e'), event(6, 'f'), event(7, 'g')], [])
  for (const sequence of [1, 2, 3]) queue.addRetry(event(sequence, `object ${sequence}`))
  expect([next(), next(), next(), next(), next(), next(), next()]).toEqual([1, 5, 2, 6, 3, 7, null])
})

test('the queue holds the events of one object in memory until there are 256, and then defers every event that is not in flight', () => {
  const { queue, deferred, event, next } = startQueue()
  const events = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => event(from + i, 'busy'))
  queue.addOpen(events(0, maxOpen - 1), [])
  expect([next(), next(), deferred]).toEqual([0, null, []])
  queue.addOpen(events(maxOpen - 1, maxOpen), [])
  expect([next(), deferred.length, queue.openCount()]).toEqual([null, maxOpen - 1, 1])
})

test('the queue attempts new events of an object again after the object’s pending delivery is finished', () => {
  const { queue, deferred, event, next } = startQueue()
  queue.addOpen([], ['failing'])
  queue.addOpen([event(1, 'failing')], ['failing'])
  expect([next(), deferred]).toEqual([null, [1]])
  queue.markRecorded([event(1, 'failing')], new Set(['failing']))
  queue.addOpen([event(2, 'another')], [])
  queue.addOpen([event(3, 'failing')], [])
  expect([next(), next(), deferred]).toEqual([2, 3, [1]])
})

test('a full queue defers no event that is the only event of its object', () => {
  const { queue, deferred, event, next } = startQueue()
  queue.addOpen(
    Array.from({ length: maxOpen }, (_, i) => event(i, `object ${i}`)),
    [],
  )
  expect([next(), next(), next(), deferred]).toEqual([0, 1, 2, []])
})

test('the queue is blocked while no open event can start, and is not blocked while it is empty', () => {
  const { queue, event, next } = startQueue()
  const isBlockedAfter = (sequence: number | null) => {
    expect(next()).toBe(sequence)
    return queue.isBlocked()
  }
  expect(queue.isBlocked()).toBe(false)
  expect(isBlockedAfter(null)).toBe(false)
  queue.addOpen([event(1, 'a'), event(2, 'a')], [])
  expect(isBlockedAfter(1)).toBe(false)
  expect(isBlockedAfter(null)).toBe(true)
  queue.addOpen([event(3, 'b')], [])
  expect(isBlockedAfter(3)).toBe(false)
})

test('the next open event of an object is attempted as soon as the previous event is finished', () => {
  const { queue, deferred, event, next } = startQueue()
  const [first, second] = [event(1, 'a'), event(2, 'a')]
  queue.addOpen([first, second], [])
  expect([next(), next()]).toEqual([1, null])
  queue.finish(first)
  expect(next()).toBeNull()
  queue.markRecorded([first], new Set())
  expect([next(), deferred]).toEqual([2, []])
})

test('new events of an object can start again after a retry of an earlier event of the object has succeeded', () => {
  const { queue, deferred, event, next } = startQueue()
  const first = event(1, 'a')
  queue.addOpen([first], ['a'])
  expect([next(), deferred]).toEqual([null, [1]])
  queue.markRecorded([first], new Set(['a']))
  queue.addRetry(first)
  expect(next()).toBe(1)
  queue.addOpen([event(2, 'a')], ['a'])
  queue.finish(first)
  queue.markRecorded([first], new Set())
  expect([next(), deferred]).toEqual([2, [1]])
})

test('an open event waits for a resend of an earlier event of the object', () => {
  const { queue, deferred, event, next } = startQueue()
  queue.addOpen([event(2, 'another'), event(3, 'a')], [])
  expect(next()).toBe(2)
  queue.addRetry(event(1, 'a'))
  expect([next(), deferred]).toEqual([null, [3]])
})

test('recording an event drops the queued retries of the same object only, because an earlier event may have been resent', () => {
  const { queue, event, next } = startQueue()
  queue.addRetry(event(1, 'a'))
  queue.addRetry(event(2, 'b'))
  expect([1, 2, 3].map(queue.hasRetry)).toEqual([true, true, false])
  queue.markRecorded([event(4, 'a')], new Set(['a']))
  expect([1, 2].map(queue.hasRetry)).toEqual([false, true])
  expect([next(), next()]).toEqual([2, null])
})
