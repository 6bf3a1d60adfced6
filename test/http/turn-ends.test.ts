import { expect, test } from 'vitest'
import { turnEnds } from '../../src/http/turn-ends.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Answers that are ready at the times given, and those of them that were sent so far. */
function answering() {
  const sent: string[] = []
  let now = 0
  const endOfTurn = turnEnds(() => now)
  const ready = async (name: string, at: number) => {
    now = at
    endOfTurn().then(() => sent.push(name))
    // As when a request is answered: all microtasks have run before the next one is read.
    await new Promise((resolve) => process.nextTick(resolve))
  }
  return { sent, ready }
}

test('answers of one turn are sent at its end, in their order, and each once', async () => {
  const { sent, ready } = answering()
  await ready('one', 0)
  await ready('two', 0)
  await ready('three', 0)
  expect(sent).toEqual([])
  await nextTurn()
  expect(sent).toEqual(['one', 'two', 'three'])

  await ready('four', 0)
  await nextTurn()
  await nextTurn()
  expect(sent).toEqual(['one', 'two', 'three', 'four'])
})

test('in a long turn an answer waits for two milliseconds and the next answer at most', async () => {
  const { sent, ready } = answering()
  await ready('one', 100)
  await ready('two', 101.9)
  expect(sent).toEqual([])
  await ready('three', 102)
  expect(sent).toEqual(['one', 'two', 'three'])
  await ready('four', 105)
  await ready('five', 106)
  expect(sent).toEqual(['one', 'two', 'three'])
  await nextTurn()
  expect(sent).toEqual(['one', 'two', 'three', 'four', 'five'])
})
