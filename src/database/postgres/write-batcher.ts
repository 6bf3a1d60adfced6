import type { Batchable } from '../database.ts'

/** What waits for a lane: an operation of a merchant that may run beside others. */
export type BatchableWrite = { readonly merchantId: string; readonly batchable: Batchable }

/** Groups that run at a time: while the server runs the statements of one, this process makes those of another. */
const maxConcurrentBatches = 4

export type WriteBatcher<Member extends BatchableWrite> = {
  readonly add: (member: Member) => void
  readonly queued: () => number
  readonly queuedFor: (merchantId: string) => number
}

/**
 * Gathers what may run at the same time in one transaction, of any merchant, and has it run in groups of at most `limit`: all
 * that has come by the end of a turn of the event loop, or while all lanes were taken.
 *
 * A merchant is in one lane at a time, because in another it would wait for itself; and a group takes one of each merchant before it
 * takes another of any, so that nobody waits for all that one has asked for. It is in the order of its merchants: so two
 * processes hold what they share in the same order, and neither waits for the other for ever.
 */
export function writeBatcher<Member extends BatchableWrite>(
  limit: number,
  run: (group: readonly Member[]) => Promise<void>,
): WriteBatcher<Member> {
  /** By merchant; whose turn is next comes first. */
  const gathered = new Map<string, Member[]>()
  const running = new Set<string>()
  let waiting = 0
  let inUse = 0
  let isDue = false

  function scheduleBatch(): void {
    if (isDue || inUse === maxConcurrentBatches || waiting === 0) return
    isDue = true
    setImmediate(() => {
      isDue = false
      const group = takeBatch()
      if (group.length === 0) return
      runBatch(group)
      scheduleBatch()
    })
  }

  async function runBatch(group: readonly Member[]): Promise<void> {
    inUse++
    for (const { merchantId } of group) running.add(merchantId)
    await run(group)
    for (const { merchantId } of group) running.delete(merchantId)
    inUse--
    scheduleBatch()
  }

  function takeBatch(): readonly Member[] {
    const group: Member[] = []
    const keys = new Set<string>()
    const free = [...gathered].filter(([merchantId]) => !running.has(merchantId))
    for (let size = -1; size < group.length && group.length < limit; ) {
      size = group.length
      for (const [merchantId, members] of free) {
        const [first] = members
        const key = first?.batchable.conflictKey == null ? null : `${merchantId} ${first.batchable.conflictKey}`
        if (!first || group.length === limit || (key !== null && keys.has(key))) continue
        if (key !== null) keys.add(key)
        group.push(first)
        members.shift()
      }
    }
    waiting -= group.length
    for (const { merchantId } of group) {
      const left = gathered.get(merchantId)
      gathered.delete(merchantId)
      if (left && left.length > 0) gathered.set(merchantId, left)
    }
    return group.sort((a, b) => (a.merchantId < b.merchantId ? -1 : Number(a.merchantId > b.merchantId)))
  }

  return {
    add: (member) => {
      const others = gathered.get(member.merchantId)
      if (others) others.push(member)
      else gathered.set(member.merchantId, [member])
      waiting++
      scheduleBatch()
    },
    queued: () => waiting,
    queuedFor: (merchantId) => gathered.get(merchantId)?.length ?? 0,
  }
}
