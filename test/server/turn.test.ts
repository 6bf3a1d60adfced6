import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createResponseFlush } from '../../src/server/http/response-flush.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const microtasks = () => new Promise((resolve) => process.nextTick(resolve))

const { schedule: atEnd, flush: sendWaiting, flushOverdue: sendOverdue } = createResponseFlush()

let sent: string[] = []
/** An answer that is ready. */
const ready = (name: string) => atEnd(() => sent.push(name))

beforeEach(async () => {
  await nextTurn()
  sent = []
})

test('answers of one turn are sent at its end, in their order, and each once', async () => {
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

test('what waits is sent before something that takes long, and what is ready later at the end', async () => {
  ready('one')
  sendWaiting()
  expect(sent).toEqual(['one'])
  ready('two')
  await microtasks()
  expect(sent).toEqual(['one'])
  await nextTurn()
  expect(sent).toEqual(['one', 'two'])
})

test('what has waited for two milliseconds is sent when another request is looked at', async () => {
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

test('how long answers have waited counts from the first of them', async () => {
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

test('an answer that can not be sent keeps no other back, and the first fault is raised after all', () => {
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
