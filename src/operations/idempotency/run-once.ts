import { hash } from 'node:crypto'
import { DomainError } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { ConflictError } from '../../database/database.ts'
import type { DeferredValues, Tx } from '../../database/query.ts'
import { isRead } from '../../database/query.ts'
import type { Context, IdempotentResult } from '../context.ts'
import { deleteExpiredKeys, findKey, insertKey } from './repository.ts'

/** Idempotency keys in `idempotency_keys` expire (ruling 22). */
const retentionMs = 30 * 24 * 60 * 60 * 1000

export type Idempotency = { readonly key: string; readonly fingerprint: string }

type RowWithFingerprint = { readonly fingerprint: string | null }

export type IdempotencyStore<Result, Row extends RowWithFingerprint> = {
  /**
   * Locks the rows that the operation changes, so that a concurrent request with the same idempotency key waits for the
   * stored result. An operation with a `lock` can share a batch with other operations (`Batchable`).
   */
  readonly lock?: (tx: Tx) => void
  readonly find: (tx: Tx, key: string) => MaybePromise<Row | null>
  readonly toResult: (row: Row) => Result
  readonly save: (tx: Tx, idempotency: Idempotency, result: Result) => MaybePromise<unknown>
}

/**
 * Runs `operation` in a transaction, once per idempotency key of the caller (ruling 22).
 *
 * The same transaction stores the idempotency key and the result. Errors are not stored. The fingerprint is computed
 * from the parsed input, so equal requests through REST and GraphQL have the same fingerprint.
 *
 * The operation's first reads run concurrently with the lookup of the idempotency key, to save a round trip on
 * PostgreSQL. Writes wait until the lookup has ended.
 *
 * @param store a custom store, or the operation's name for the default store
 * @param request the parsed input, as plain data
 * @throws DomainError IDEMPOTENCY_KEY_REUSED if the key was used with different input; otherwise the errors of
 *   `operation`
 */
export function runOnce<Result extends object, Row extends RowWithFingerprint>(
  context: Context,
  store: string | IdempotencyStore<Result, Row>,
  request: object,
  operation: (tx: Tx, idempotency: Idempotency | null) => Promise<Result>,
): Promise<IdempotentResult<Result>> {
  const { idempotencyKey: key, merchantId, db, caller } = context
  const { lock, find, toResult, save } = (
    typeof store === 'string' ? defaultIdempotencyStore(context, store) : store
  ) as IdempotencyStore<Result, Row>
  const options = lock ? { merchantId, batchable: { conflictKey: key } } : { merchantId }
  if (key === null) {
    const run = async (tx: Tx) => {
      lock?.(tx)
      return { result: await operation(tx, null), isReplayed: false }
    }
    return db.write(run, options)
  }
  // A client token for one customer must not receive the stored response of another customer, even if the requests are
  // equal.
  const idempotency = { key, fingerprint: fingerprintOf({ ...request, actingAs: caller.customerId }) }
  const replay = (row: Row): IdempotentResult<Result> => {
    if (row.fingerprint === idempotency.fingerprint) return { result: toResult(row), isReplayed: true }
    throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used before with another request.')
  }
  const run = async (tx: Tx): Promise<IdempotentResult<Result>> => {
    lock?.(tx)
    const lookup = find(tx, key)
    const isSync = !(lookup instanceof Promise)
    if (isSync && lookup !== null) return replay(lookup)
    const running = operation(isSync ? tx : deferWritesUntilNew(tx, lookup), idempotency)
    const [stored, outcome] = isSync ? [null, () => running] : await Promise.all([lookup, captureOutcome(running)])
    if (stored !== null) return replay(stored)
    const result = await outcome()
    await save(tx, idempotency, result)
    return { result, isReplayed: false }
  }
  return db.write(run, options)
}

function deferWritesUntilNew(tx: Tx, lookup: Promise<unknown>): Tx {
  const requireNew = async () => {
    if ((await lookup) !== null) throw new Error('a write was abandoned because the idempotency key was used before')
  }
  const execute: Tx['execute'] = async (query, params) => {
    if (!isRead(query)) await requireNew()
    return tx.execute(query, params)
  }
  const update: DeferredValues['update'] = async (name, change) => {
    await requireNew()
    return tx.deferred.update(name, change)
  }
  return { execute, deferred: { ...tx.deferred, update } } as Tx
}

/** Waits for the end of `running` without throwing. The returned function throws the error of `running`. */
function captureOutcome<Result>(running: Promise<Result>): Promise<() => Promise<Result>> {
  const getOutcome = () => running
  return running.then(
    () => getOutcome,
    () => getOutcome,
  )
}

/**
 * Idempotency keys of payouts are kept permanently, so the computation of the fingerprint must never change. Fields are
 * sorted by name, and absent fields are omitted, because later versions may reorder or add fields. A nested `null` is
 * included, because an update to `null` clears a value.
 */
export function fingerprintOf(request: object): string {
  const fields = request as Record<string, unknown>
  // JSON omits undefined values.
  const present = Object.keys(fields).filter((name) => fields[name] !== null)
  return hash('sha256', JSON.stringify(canonicalizeObject(fields, present)), 'base64url')
}

/** A replacer function for JSON.stringify would take twice as long. */
function canonicalize(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(canonicalize)
  if (typeof value !== 'object' || value === null) return value
  // Rejects objects such as `Date`, because two different `Date` objects would have the same fingerprint.
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error('a request must be plain data')
  return canonicalizeObject(value as Record<string, unknown>, Object.keys(value))
}

/** The field names come from our own schemas, so no name is `__proto__` or a number. */
function canonicalizeObject(value: Record<string, unknown>, names: string[]): object {
  const members: Record<string, unknown> = {}
  for (const name of names.sort()) members[name] = canonicalize(value[name])
  return members
}

type StoredRow = RowWithFingerprint & { readonly result: unknown }

/** Each write deletes a few expired idempotency keys, so no cleanup job is needed. */
function defaultIdempotencyStore(context: Context, operation: string): IdempotencyStore<object, StoredRow> {
  const { merchantId } = context
  const oldestCreatedAt = () => timestamp(context.now() - retentionMs)
  return {
    find: (tx, key) => findKey(tx, { merchantId, operation, key, oldest: oldestCreatedAt() }),
    toResult: ({ result }) => result as object,
    save: async (tx, { key, fingerprint }, result) => {
      await deleteExpiredKeys(tx, { merchantId, oldest: oldestCreatedAt(), limit: 10 })
      const createdAt = timestamp(context.now())
      const row = { merchantId, operation, key, fingerprint, result, createdAt, oldest: oldestCreatedAt() }
      if (!(await insertKey(tx, row))) throw new ConflictError('another request stored the same idempotency key')
    },
  }
}
