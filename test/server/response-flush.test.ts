import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createResponseFlush } from '../../src/server/http/response-flush.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const microtasks = () => new Promise((resolve) => process.nextTick(resolve))

const { schedule: atEnd, flush: sendWaiting, flushOverdue: sendOverdue } = createResponseFlush()

let sent: string[] = []
/** A response that is ready to send. */
const ready = (name: string) => atEnd(() => sent.push(name))

beforeEach(async () => {
  await nextTurn()
  sent = []
})

test('responses of one turn of the event loop are flushed together at the end of the turn, in order', async () => {
  ready('one')
  ready('two')
  await microtasks()
  ready('three')
  await microtasks()
  expect(sent).toEqual([])
  await nextTurn()
  expect(sent).toEqual(['one', 'two', 'three'])

  ready('four')
  await nextTurn()
  await nextTurn()
  expect(sent).toEqual(['one', 'two', 'three', 'four'])
})

test('flush sends waiting responses immediately, and later responses are sent at the end of the turn of the event loop', async () => {
  ready('one')
  sendWaiting()
  expect(sent).toEqual(['one'])
  ready('two')
  await microtasks()
  expect(sent).toEqual(['one'])
  await nextTurn()
  expect(sent).toEqual(['one', 'two'])
})

test('a response that has waited two milliseconds is flushed when the next request is parsed', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  ready('one')
  vi.advanceTimersByTime(2)
  await microtasks()
  expect(sent).toEqual([])
  sendOverdue()
  ready('two')
  sendOverdue()
  expect(sent).toEqual(['one'])
  await nextTurn()
  expect(sent).toEqual(['one', 'two'])
})

test('the waiting time of several responses is measured from the first response', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  ready('one')
  vi.advanceTimersByTime(1)
  ready('two')
  sendOverdue()
  expect(sent).toEqual([])
  vi.advanceTimersByTime(1)
  sendOverdue()
  expect(sent).toEqual(['one', 'two'])
})

test("a response that can't be sent does not delay the other responses, and the first error is thrown afterwards", () => {
  const fail = (name: string) => () => {
    throw new Error(name)
  }
  ready('one')
  atEnd(fail('first'))
  atEnd(fail('second'))
  ready('two')
  expect(sendWaiting).toThrow('first')
  expect(sent).toEqual(['one', 'two'])
  sendWaiting()
  expect(sent).toEqual(['one', 'two'])
})
