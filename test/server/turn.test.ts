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

test('responses of one turn are flushed at its end, in order, and each once', async () => {
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

test('waiting responses are flushed before slow work, and later ones at the end of the turn', async () => {
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

test('the waiting time of responses counts from the first of them', async () => {
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

test("a response that can't be sent delays no other, and the first error is thrown afterwards", () => {
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
