import { expect, test } from 'vitest'
import { writeBatcher } from '../../../src/database/postgres/write-batcher.ts'

const limit = 4

/** Creates lanes whose groups run until they are released, and records the started groups as `merchant:key`. */
function startLanes() {
  const begun: string[][] = []
  const ends: (() => void)[] = []
  const lanes = writeBatcher<{ merchantId: string; batchable: { conflictKey: string | null } }>(limit, (group) => {
    begun.push(group.map(({ merchantId, batchable }) => `${merchantId}:${batchable.conflictKey}`))
    return new Promise((resolve) => ends.push(resolve))
  })
  return {
    lanes,
    begun,
    gather: (...names: string[]) => {
      for (const name of names) {
        const [merchantId = '', key] = name.split(':')
        lanes.add({ merchantId, batchable: { conflictKey: key ?? null } })
      }
    },
    /** Ends the group that started first. */
    end: () => ends.shift()?.(),
    turn: async () => {
      for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('the write batcher runs the operations of one turn of the event loop in one batch, ordered by merchant', async () => {
  const { gather, turn, begun, lanes } = startLanes()
  gather('b:1', 'a:1', 'c:1', 'a:2')
  expect([begun, lanes.queued()]).toEqual([[], 4])
  await turn()
  expect([begun, lanes.queued()]).toEqual([[['a:1', 'a:2', 'b:1', 'c:1']], 0])
})

test('the write batcher takes the first operation of each merchant before the second operation of any merchant', async () => {
  const { gather, turn, begun, end } = startLanes()
  gather('a:1', 'a:2', 'a:3', 'a:4', 'a:5', 'a:6', 'b:1', 'c:1')
  await turn()
  expect(begun).toEqual([['a:1', 'a:2', 'b:1', 'c:1']])
  gather('b:2', 'd:1')
  await turn()
  // A merchant has at most one running group.
  expect(begun.slice(1)).toEqual([['d:1']])
  end()
  await turn()
  // The merchant that ran last is last in the queue.
  expect(begun.slice(2)).toEqual([['a:3', 'a:4', 'a:5', 'b:2']])
})

test('the write batcher never runs two operations of a merchant concurrently if they have the same conflict key', async () => {
  const { gather, turn, begun, end } = startLanes()
  gather('a:1', 'b:1', 'a:1', 'a', 'a')
  await turn()
  end()
  await turn()
  expect(begun).toEqual([
    ['a:1', 'b:1'],
    ['a:1', 'a:null', 'a:null'],
  ])
})

test('the write batcher runs as many batches concurrently as its limit allows', async () => {
  const { gather, turn, begun, end, lanes } = startLanes()
  for (const merchant of ['a', 'b', 'c', 'd', 'e']) {
    gather(merchant)
    await turn()
  }
  expect([begun.flat(), lanes.queued()]).toEqual([['a:null', 'b:null', 'c:null', 'd:null'], 1])
  gather('f', 'f', 'f')
  end()
  await turn()
  expect(begun[4]).toEqual(['e:null', 'f:null', 'f:null', 'f:null'])
})
