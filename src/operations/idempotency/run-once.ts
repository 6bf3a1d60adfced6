import { hash } from 'node:crypto'
import { DomainError } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { mapMaybe } from '../../core/maybe-promise.ts'
import { ConflictError } from '../../database/database.ts'
import type { DeferredValues, Tx } from '../../database/query.ts'
import { isRead } from '../../database/query.ts'
import type { Context, IdempotentResult } from '../context.ts'
import { deleteExpiredKeys, findKey, insertKey } from './repository.ts'

/** How long a key is remembered where the operation keeps it here: 30 days (ruling 22). */
const retentionMs = 30 * 24 * 60 * 60 * 1000

/** The caller's key and the fingerprint of the input that it came with. */
export type Idempotency = { readonly key: string; readonly fingerprint: string }

type StoredResult<Result> = { readonly fingerprint: string | null; readonly result: Result }

/** Where an operation remembers what it answered to a key. */
export type IdempotencyStore<Result> = {
  /**
   * Holds what it will change before anything is asked for: so whoever waits for another that has the same key finds it then. An
   * operation that does may run beside others; see `Beside`.
   */
  readonly lock?: (tx: Tx) => void
  readonly find: (tx: Tx, key: string) => MaybePromise<StoredResult<Result> | null>
  readonly save: (tx: Tx, idempotency: Idempotency, result: Result) => MaybePromise<unknown>
}

/**
 * Runs `operation` in a transaction, once for each of the caller's idempotency keys (ruling 22).
 *
 * The key is kept in the same transaction as what it protects, so neither exists without the other, and only successes
 * are kept. The fingerprint is of the parsed input: both doors give the same, and spelling does not matter.
 *
 * What the operation reads before it writes is asked for together with the memory, because on a server each wait is a round
 * trip; nothing is written before it is known that the key is new.
 *
 * @param memory where it is remembered, or the operation's own name, where that is here; a name is kept with each key
 * @param request the parsed input, in plain data
 * @throws Refusal IDEMPOTENCY_KEY_REUSED when the key came with other input before; else what `operation` throws
 */
export function runOnce<Result extends object>(
  context: Context,
  memory: string | IdempotencyStore<Result>,
  request: object,
  operation: (tx: Tx, idempotency: Idempotency | null) => Promise<Result>,
): Promise<IdempotentResult<Result>> {
  const { idempotencyKey: key, merchantId, db, caller } = context
  const {
    lock: hold,
    find: recall,
    save: keep,
  } = typeof memory === 'string' ? defaultIdempotencyStore<Result>(context, memory) : memory
  const options = hold ? { merchantId, batchable: { conflictKey: key } } : { merchantId }
  if (key === null) {
    const run = async (tx: Tx) => {
      hold?.(tx)
      return { result: await operation(tx, null), isReplayed: false }
    }
    return db.write(run, options)
  }
  // A client token of one customer must not replay the response of another customer's equal request.
  const idempotency = { key, fingerprint: fingerprintOf({ ...request, actingAs: caller.customerId }) }
  const run = async (tx: Tx): Promise<IdempotentResult<Result>> => {
    hold?.(tx)
    const recalling = recall(tx, key)
    const isKnown = !(recalling instanceof Promise)
    if (isKnown && recalling !== null) return replayResult(recalling, idempotency)
    const running = operation(isKnown ? tx : deferWritesUntilNew(tx, recalling), idempotency)
    const [remembered, outcome] = isKnown
      ? [null, () => running]
      : await Promise.all([recalling, captureOutcome(running)])
    if (remembered !== null) return replayResult(remembered, idempotency)
    const result = await outcome()
    await keep(tx, idempotency, result)
    return { result, isReplayed: false }
  }
  return db.write(run, options)
}

/** @throws Refusal IDEMPOTENCY_KEY_REUSED */
function replayResult<Result>(
  remembered: StoredResult<Result>,
  { fingerprint }: Idempotency,
): IdempotentResult<Result> {
  if (remembered.fingerprint === fingerprint) return { result: remembered.result, isReplayed: true }
  throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used before with another request.')
}

/** The transaction for an operation that may turn out to be done: what it writes waits for that, and is not written then. */
function deferWritesUntilNew(tx: Tx, recalling: Promise<unknown>): Tx {
  const requireNew = async () => {
    if ((await recalling) !== null) throw new Error('it is done already')
  }
  const execute: Tx['execute'] = async (query, params) => {
    if (!isRead(query)) await requireNew()
    return tx.execute(query, params)
  }
  const change: DeferredValues['update'] = async (name, how) => {
    await requireNew()
    return tx.deferred.update(name, how)
  }
  return { execute, deferred: { ...tx.deferred, update: change } } as Tx
}

/** Waits for something that may not count: what it throws is thrown only when it is asked for. */
function captureOutcome<Result>(running: Promise<Result>): Promise<() => Promise<Result>> {
  const getOutcome = () => running
  return running.then(
    () => getOutcome,
    () => getOutcome,
  )
}

/**
 * What two requests with one key must agree in. A key of a payout is remembered for ever, so the fingerprint of a request must
 * never change: fields are taken by name, not in their order, and absent ones are left out, because a later version may move
 * some and add others. Within a field that holds others `null` counts: an update to `null` clears what is left alone where
 * nothing is sent.
 */
export function fingerprintOf(request: object): string {
  const fields = request as Record<string, unknown>
  // JSON leaves out what is undefined.
  const given = Object.keys(fields).filter((name) => fields[name] !== null)
  return hash('sha256', JSON.stringify(canonicalizeObject(fields, given)), 'base64url')
}

/** What JSON is made of, with bigints as strings; JSON.stringify with a function to do this takes twice as long. */
function canonicalize(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(canonicalize)
  if (typeof value !== 'object' || value === null) return value
  // Two moments, for instance, would be the same object without members.
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error('a request is made of plain data')
  return canonicalizeObject(value as Record<string, unknown>, Object.keys(value))
}

/** With its names in order. They are those of a schema of ours: no number, which would go first, and no `__proto__`. */
function canonicalizeObject(value: Record<string, unknown>, names: string[]): object {
  const members: Record<string, unknown> = {}
  for (const name of names.sort()) members[name] = canonicalize(value[name])
  return members
}

/**
 * The memory of operations whose result is a JSON object.
 *
 * Keeping a key also removes a few whose time is over, so that no job has to.
 */
function defaultIdempotencyStore<Result extends object>(context: Context, operation: string): IdempotencyStore<Result> {
  const { merchantId } = context
  const oldestCreatedAt = () => timestamp(context.now() - retentionMs)
  return {
    find: (tx, key) =>
      mapMaybe(
        findKey(tx, { merchantId, operation, key, oldest: oldestCreatedAt() }),
        (row) => row && { fingerprint: row.fingerprint, result: row.result as Result },
      ),
    save: async (tx, { key, fingerprint }, result) => {
      await deleteExpiredKeys(tx, { merchantId, oldest: oldestCreatedAt(), limit: 10 })
      const createdAt = timestamp(context.now())
      const row = { merchantId, operation, key, fingerprint, result, createdAt, oldest: oldestCreatedAt() }
      if (!(await insertKey(tx, row))) throw new ConflictError('another request kept the same idempotency key')
    },
  }
}
