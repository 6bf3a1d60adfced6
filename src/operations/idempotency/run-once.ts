import { hash } from 'node:crypto'
import { Refusal } from '../../core/errors.ts'
import { timestamp } from '../../core/ids.ts'
import { Conflict } from '../../database/database.ts'
import type { Answer, Pending, Tx } from '../../database/query.ts'
import { answerOf, isRead } from '../../database/query.ts'
import type { Context, Done } from '../context.ts'
import { deleteExpiredKeys, insertKey, keyByName } from './repository.ts'

/** How long a key is remembered where the operation keeps it here: 30 days (ruling 22). */
const retentionMs = 30 * 24 * 60 * 60 * 1000

/** The caller's key and the fingerprint of the input that it came with. */
export type Idempotency = { readonly key: string; readonly fingerprint: string }

type Remembered<Result> = { readonly fingerprint: string | null; readonly result: Result }

/** Where an operation remembers what it answered to a key. */
export type Memory<Result> = {
  /**
   * Holds what it will change before anything is asked for: so whoever waits for another that has the same key finds it then. An
   * operation that does may run beside others; see `Beside`.
   */
  readonly hold?: (tx: Tx) => void
  readonly recall: (tx: Tx, key: string) => Answer<Remembered<Result> | null>
  readonly keep: (tx: Tx, idempotency: Idempotency, result: Result) => Answer<unknown>
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
export function once<Result extends object>(
  context: Context,
  memory: string | Memory<Result>,
  request: object,
  operation: (tx: Tx, idempotency: Idempotency | null) => Promise<Result>,
): Promise<Done<Result>> {
  const { idempotencyKey: key, merchantId, db, caller } = context
  const { hold, recall, keep } = typeof memory === 'string' ? keyMemory<Result>(context, memory) : memory
  const options = hold ? { merchantId, beside: { key } } : { merchantId }
  if (key === null) {
    const run = async (tx: Tx) => {
      hold?.(tx)
      return { result: await operation(tx, null), isReplayed: false }
    }
    return db.write(run, options)
  }
  // A client token of one customer must not replay the response of another customer's equal request.
  const idempotency = { key, fingerprint: fingerprintOf({ ...request, actingAs: caller.customerId }) }
  const run = async (tx: Tx): Promise<Done<Result>> => {
    hold?.(tx)
    const recalling = recall(tx, key)
    const isKnown = !(recalling instanceof Promise)
    if (isKnown && recalling !== null) return replayed(recalling, idempotency)
    const running = operation(isKnown ? tx : writingIfNew(tx, recalling), idempotency)
    const [remembered, outcome] = isKnown ? [null, () => running] : await Promise.all([recalling, outcomeOf(running)])
    if (remembered !== null) return replayed(remembered, idempotency)
    const result = await outcome()
    await keep(tx, idempotency, result)
    return { result, isReplayed: false }
  }
  return db.write(run, options)
}

/** @throws Refusal IDEMPOTENCY_KEY_REUSED */
function replayed<Result>(remembered: Remembered<Result>, { fingerprint }: Idempotency): Done<Result> {
  if (remembered.fingerprint === fingerprint) return { result: remembered.result, isReplayed: true }
  throw new Refusal('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used before with another request.')
}

/** The transaction for an operation that may turn out to be done: what it writes waits for that, and is not written then. */
function writingIfNew(tx: Tx, recalling: Promise<unknown>): Tx {
  const requireNew = async () => {
    if ((await recalling) !== null) throw new Error('it is done already')
  }
  const execute: Tx['execute'] = async (query, params) => {
    if (!isRead(query)) await requireNew()
    return tx.execute(query, params)
  }
  const change: Pending['change'] = async (name, how) => {
    await requireNew()
    return tx.pending.change(name, how)
  }
  return { execute, pending: { ...tx.pending, change } } as Tx
}

/** Waits for something that may not count: what it throws is thrown only when it is asked for. */
function outcomeOf<Result>(running: Promise<Result>): Promise<() => Promise<Result>> {
  const ask = () => running
  return running.then(
    () => ask,
    () => ask,
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
  return hash('sha256', JSON.stringify(canonicalObject(fields, given)), 'base64url')
}

/** What JSON is made of, with bigints as strings; JSON.stringify with a function to do this takes twice as long. */
function canonical(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  // Two moments, for instance, would be the same object without members.
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error('a request is made of plain data')
  return canonicalObject(value as Record<string, unknown>, Object.keys(value))
}

/** With its names in order. They are those of a schema of ours: no number, which would go first, and no `__proto__`. */
function canonicalObject(value: Record<string, unknown>, names: string[]): object {
  const members: Record<string, unknown> = {}
  for (const name of names.sort()) members[name] = canonical(value[name])
  return members
}

/**
 * The memory of operations whose result is a JSON object.
 *
 * Keeping a key also removes a few whose time is over, so that no job has to.
 */
function keyMemory<Result extends object>(context: Context, operation: string): Memory<Result> {
  const { merchantId } = context
  const oldest = () => timestamp(context.now() - retentionMs)
  return {
    recall: (tx, key) =>
      answerOf(
        keyByName(tx, { merchantId, operation, key, oldest: oldest() }),
        (row) => row && { fingerprint: row.fingerprint, result: row.result as Result },
      ),
    keep: async (tx, { key, fingerprint }, result) => {
      await deleteExpiredKeys(tx, { merchantId, oldest: oldest(), limit: 10 })
      const createdAt = timestamp(context.now())
      const row = { merchantId, operation, key, fingerprint, result, createdAt, oldest: oldest() }
      if (!(await insertKey(tx, row))) throw new Conflict('another request kept the same idempotency key')
    },
  }
}
