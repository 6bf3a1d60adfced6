import { unavailable, unknownOutcome } from '../../core/errors.ts'
import type { DatabaseStatistics, OnCommitted, WriteOptions } from '../database.ts'
import { answerLimitMs, machineClock, queueLimit, tooFull, tooLate } from '../deadline.ts'
import type { PendingWrites } from '../deferred-writes.ts'
import { pendingWrites } from '../deferred-writes.ts'
import type { Answer, Query, Tx } from '../query.ts'
import { returnsRows } from '../query.ts'
import { sharedAnswers } from '../shared-query-cache.ts'
import type { Changed, SqliteConnection } from './sqlite-connection.ts'

/** Operations that share one commit at most, so that those behind them do not wait for all that a burst brought. */
export const groupLimit = 256

/**
 * A turn of the event loop may last this long, or as long as storing the last group took, before what waits is stored
 * within it: a flood of requests makes turns of seconds, and may have no more than half of the time.
 */
const turnLimitMs = 50

/** A group waits this long for another process that holds the write lock: 500 times 10 ms. */
const lockRetries = 500
const lockRetryMs = 10

/** The write side: one transaction after another, each shared by the operations that had arrived. */
export type SqliteWriter = {
  readonly write: <Result>(operation: (tx: Tx) => Answer<Result>, options?: WriteOptions) => Promise<Result>
  /** @throws Refusal UNAVAILABLE when the queue is full */
  readonly requireRoom: () => void
  /** See `Database`. */
  readonly beforeGroups: (call: () => void) => void
  readonly statistics: () => DatabaseStatistics
  readonly drain: () => Promise<void>
}

type Operation = (tx: Tx) => Answer<unknown>

type Member = {
  readonly operation: Operation
  /** See `WriteOptions`: a process that was stopped begins nothing for callers that have given up meanwhile. */
  readonly beginBy: number
  readonly onCommitted: OnCommitted | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  outcome: { readonly result: unknown } | { readonly error: unknown } | null
}

type Group = {
  readonly members: readonly Member[]
  /** Members that made an earlier run of this group roll back; they are answered with the rest. */
  readonly abandoned: readonly Member[]
  /** What its members have changed. */
  readonly changed: Set<Changed>
  /** What they have left to be written before COMMIT. */
  readonly pending: PendingWrites
  current: Member | null
  hasCurrentWritten: boolean
  isOver: boolean
  readonly startedAt: number
  /** What went wrong below the operations, even where one of them caught it; the whole group is refused with it. */
  failure: unknown
}

/**
 * Commits operations in groups: those that arrive while one group commits form the next, each runs to its end in turn,
 * one COMMIT and one sync serve all, and only then is anyone answered, refusals included, because a refusal may rest on
 * what an earlier member wrote.
 *
 * A member that throws before it has written leaves nothing behind. One that throws after it has written makes the
 * group roll back and run again without it: operations check before they write, so this is rare, and it spares every
 * other operation a savepoint. It too is answered after the commit.
 *
 * @param requireEpoch throws when another process writes in place of this one; asked within each transaction, before its
 *   members run
 * @param requireFile throws when what is written could never be read again; asked before each group, and after its commit
 *   before anyone is answered
 * @param onCommit called after each commit, before anyone is answered, with what it changed
 * @param onCommitted told of each commit that stands, where somebody measures them; those who wait are told of theirs
 * @param onFatal called when a commit failed in a way that leaves its outcome unknown
 */
export function sqliteWriter(
  connection: SqliteConnection,
  {
    requireFile,
    requireEpoch,
    onCommit,
    onCommitted,
    onFatal,
  }: {
    requireFile: () => void
    requireEpoch: () => void
    onCommit: (changed: ReadonlySet<Changed>) => void
    onCommitted?: OnCommitted | undefined
    onFatal: (error: Error) => void
  },
): SqliteWriter {
  const { raw } = connection
  // SQLite would wait for a lock without letting the event loop run, and reads with it: `run` waits instead.
  raw.pragma('busy_timeout = 0')
  const begin = raw.prepare('begin immediate')
  const commit = raw.prepare('commit')
  const rollback = raw.prepare('rollback')
  // It grows with the commits of other processes.
  const dataVersion = raw.prepare('pragma data_version').pluck()
  const shared = sharedAnswers<unknown[]>()
  let sharedOf: unknown = null
  let queue: Member[] = []
  let isBusy = false
  /** Whether the last group was one operation, and nobody came in the turn that it was stored in: then nobody waits for others. */
  let isQuiet = false
  let lastSize = 0
  let quiet: NodeJS.Immediate | undefined
  let next: NodeJS.Immediate | null = null
  let nextDueAt = 0
  let lastGroupMs = 0
  let writes = 0
  let commits = 0
  let beforeGroup = () => {}
  const drained: (() => void)[] = []

  function write<Result>(
    operation: (tx: Tx) => Answer<Result>,
    { beginBy = machineClock() + answerLimitMs, onCommitted }: WriteOptions = {},
  ): Promise<Result> {
    return new Promise<Result>((answer, reject) => {
      // What it throws rejects the promise.
      requireRoom()
      const resolve = answer as (result: unknown) => void
      queue.push({ operation, beginBy, onCommitted, resolve, reject, outcome: null })
      if (!isBusy) startNext()
    })
  }

  function requireRoom(): void {
    if (next !== null && performance.now() >= nextDueAt) runNext()
    if (queue.length >= queueLimit) throw tooFull()
  }

  function startNext(): void {
    if (queue.length === 0) {
      isBusy = false
      // Whoever came meanwhile is heard of before that.
      if (lastSize === 1)
        quiet = setImmediate(() => {
          isQuiet = true
        })
      for (const resolve of drained.splice(0)) resolve()
      return
    }
    clearImmediate(quiet)
    const waitsForOthers = !isQuiet
    isQuiet = false
    isBusy = true
    if (!waitsForOthers) {
      runNext()
      return
    }
    // The turn's other requests arrive before the immediate, and so share this commit.
    next = setImmediate(runNext)
    nextDueAt = performance.now() + Math.max(turnLimitMs, lastGroupMs)
  }

  function runNext(): void {
    clearImmediate(next ?? undefined)
    next = null
    beforeGroup()
    const members = queue.slice(0, groupLimit)
    queue = queue.slice(groupLimit)
    lastSize = members.length
    run(members)
  }

  function run(members: readonly Member[], abandoned: readonly Member[] = [], lockRetry = 0): void {
    const group: Group = {
      members,
      abandoned,
      changed: new Set(),
      pending: pendingWrites(),
      current: null,
      hasCurrentWritten: false,
      isOver: false,
      startedAt: performance.now(),
      failure: null,
    }
    try {
      requireFile()
      begin.run()
      requireEpoch()
      forgetWhatOthersChanged()
    } catch (error) {
      if (isLocked(error) && lockRetry < lockRetries) setTimeout(run, lockRetryMs, members, abandoned, lockRetry + 1)
      else finish(group, () => refuse(withQueue(group), error))
      return
    }
    // Only microtasks pass between an operation's statements, so a whole group is over before this can fire.
    const waited = setImmediate(() =>
      abandonCurrent(group, new Error('an operation inside write() waited for something other than its statements')),
    )
    runMembers(group)
      .finally(() => clearImmediate(waited))
      .catch(onFatal)
  }

  /** Nobody else commits while this process has the write lock, so what is kept then is as it is stored. */
  function forgetWhatOthersChanged(): void {
    const version = dataVersion.get()
    if (version !== sharedOf) shared.forget()
    sharedOf = version
  }

  async function runMembers(group: Group): Promise<void> {
    const begunAt = machineClock()
    for (const member of group.members) {
      if (member.beginBy < begunAt) {
        member.outcome = { error: tooLate() }
        continue
      }
      group.current = member
      group.hasCurrentWritten = false
      group.pending.begin()
      try {
        member.outcome = { result: await member.operation(transaction(group, member)) }
      } catch (error) {
        if (group.isOver) return
        if (isStorageFailure(error)) group.failure ??= error
        if (group.hasCurrentWritten && !group.failure) return abandonCurrent(group, error)
        group.pending.undo()
        member.outcome = { error }
      }
      if (group.isOver) return
      if (group.failure) return finish(group, () => refuse(group, group.failure))
    }
    if (!group.pending.isEmpty()) await storePending(group)
    if (!group.isOver) commitGroup(group)
  }

  async function storePending(group: Group): Promise<void> {
    group.current = null
    try {
      await group.pending.store(transaction(group, null))
    } catch (error) {
      finish(group, () => refuse(group, error))
    }
  }

  /** The member's own handle: what it left running when it ended must not write in the turn of the next. */
  function transaction(group: Group, member: Member | null): Tx {
    const requireTurn = () => {
      if (group.isOver || group.current !== member) throw new Error('a statement was run after its operation had ended')
      if (group.failure) throw group.failure
    }
    return {
      pending: {
        hold: (name, read) => {
          requireTurn()
          group.pending.hold(name, read)
        },
        change: (name, how) => {
          requireTurn()
          return group.pending.change(name, how)
        },
      },
      execute: (query: Query, params: object) => {
        requireTurn()
        const changed = connection.changes(query)
        try {
          const run = () => connection.run(query, params)
          const rows = query.isShared ? shared.answer(query, params, run) : run()
          // What answers the rows that it changes, and none, has changed nothing: a debit that nothing covers.
          if (changed !== null && (rows.length > 0 || !returnsRows(query))) {
            group.hasCurrentWritten = true
            group.changed.add(changed)
            shared.note(query)
          }
          return rows
        } catch (error) {
          if (!raw.inTransaction || isStorageFailure(error)) group.failure = error
          throw error
        }
      },
    } as Pick<Tx, 'pending' | 'execute'> as Tx
  }

  function commitGroup(group: Group): void {
    const begunAt = performance.now()
    try {
      commit.run()
    } catch (error) {
      shared.forget()
      if (!isKnownUncommitted(error)) onFatal(error as Error)
      finish(group, () => refuse(group, error))
      return
    }
    commits++
    const committed = { operations: group.members.length, seconds: (performance.now() - begunAt) / 1_000 }
    // It is stored: what fails of this is no reason to leave it unanswered.
    try {
      onCommitted?.(committed)
      for (const member of group.members) member.onCommitted?.(committed)
      onCommit(group.changed)
    } catch (error) {
      setImmediate(onFatal, error as Error)
    }
    try {
      requireFile()
    } catch (error) {
      finish(group, () => refuse(group, unknownOutcome(error)))
      return
    }
    finish(group, () => {
      for (const { outcome, resolve, reject } of everyone(group)) {
        if (outcome && 'result' in outcome) {
          writes++
          resolve(outcome.result)
        } else reject(outcome?.error)
      }
    })
  }

  /** Rolls everything back and runs the others again; the current member is refused with `error` when they are answered. */
  function abandonCurrent(group: Group, error: unknown): void {
    const { current, members, abandoned } = group
    if (current) current.outcome = { error }
    group.isOver = true
    rollBack()
    run(
      members.filter((member) => member !== current),
      current ? [...abandoned, current] : abandoned,
    )
  }

  function rollBack(): void {
    if (!raw.inTransaction) return
    rollback.run()
    shared.forget()
  }

  function finish(group: Group, answer: () => void): void {
    group.isOver = true
    rollBack()
    lastGroupMs = performance.now() - group.startedAt
    answer()
    startNext()
  }

  /** Whoever is still waiting would wait as long for the same lock again. */
  function withQueue(group: Group): Group {
    const waiting = queue
    queue = []
    return { ...group, abandoned: [...group.abandoned, ...waiting] }
  }

  function refuse(group: Group, error: unknown): void {
    const refusal = isStorageFailure(error) ? Object.assign(unavailable(), { cause: error }) : error
    for (const { reject } of everyone(group)) reject(refusal)
  }

  return {
    write,
    requireRoom,
    beforeGroups: (call) => {
      beforeGroup = call
    },
    statistics: () => ({ writes, commits, waiting: queue.length }),
    drain: () => new Promise((resolve) => (isBusy ? drained.push(resolve) : resolve())),
  }
}

function everyone({ members, abandoned }: Group): readonly Member[] {
  return abandoned.length === 0 ? members : [...members, ...abandoned]
}

/** Another process writes just now. */
function isLocked(error: unknown): boolean {
  return /^SQLITE_BUSY/.test(String((error as { code?: unknown })?.code))
}

/** The disk is full, the file is locked or unreadable: nothing that the operation did, and it may work later. */
function isStorageFailure(error: unknown): boolean {
  return /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN|NOMEM)/.test(String((error as { code?: unknown })?.code))
}

/** A full disk stops the log before its commit record is written; after any other failure the record may be there. */
function isKnownUncommitted(error: unknown): boolean {
  return /^SQLITE_(FULL|BUSY|CONSTRAINT)/.test(String((error as { code?: unknown })?.code))
}
