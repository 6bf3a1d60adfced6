import type { Database } from './database/database.ts'
import { Refusal } from './errors.ts'
import type { Clock } from './ids.ts'
import { steadyClock, timestamp, uuidV7Source } from './ids.ts'

/** `sandbox` has the demo merchant and test addresses; `live` refuses both. */
export const modes = ['sandbox', 'live'] as const
export type Mode = (typeof modes)[number]

/** What every operation works with, whoever asks: the database and the only sources of time and ids. */
export type Service = {
  readonly db: Database
  readonly mode: Mode
  /** Milliseconds since 1970; never goes back. */
  readonly now: Clock
  /** A UUIDv7 for now. */
  readonly newId: () => string
  /** Runs an operation that writes, for a door. */
  readonly perform: Perform
}

/** What a door calls: `input` and what it answers are plain data. */
export type Operation<Input, Result> = (context: Context, input: Input) => Promise<Result>

/** What an operation answers that is done once for each key; `isReplayed` where that was at an earlier request. */
export type Done<Result> = { readonly result: Result; readonly isReplayed: boolean }

/**
 * Runs an operation here, or has the process that writes run it, which finds it by its name. The answer and the refusals are
 * the same.
 *
 * @throws Refusal UNAVAILABLE when that process is not there, or was lost before it had answered
 */
export type Perform = <Input, Result>(
  operation: Operation<Input, Result>,
  context: Context,
  input: Input,
) => Promise<Result>

/** A request of one merchant. */
export type Context = Service & {
  readonly merchantId: string
  /** The caller's idempotency key, unquoted; `null` when it gave none. */
  readonly idempotencyKey: string | null
}

/** The service on an open database; tests give their own clock. */
export function createService({
  db,
  mode,
  clock,
  perform = (operation, context, input) => operation(context, input),
}: {
  db: Database
  mode: Mode
  clock?: Clock
  perform?: Perform
}): Service {
  const now = steadyClock(clock)
  const newId = uuidV7Source()
  return { db, mode, now, newId: () => newId(now()), perform }
}

/** A request of `merchantId` to the service. */
export function createContext(service: Service, merchantId: string, idempotencyKey: string | null = null): Context {
  return { ...service, merchantId, idempotencyKey }
}

/** When a row changes: now, and never before it was made or last changed, by the clock of whichever process that was. */
export function timeOfChange({ now }: Pick<Service, 'now'>, { updatedAt }: { updatedAt: string }): string {
  const time = timestamp(now())
  return time > updatedAt ? time : updatedAt
}

/**
 * Stops what only invents money or outcomes: it must never meet a live merchant.
 *
 * @throws Refusal SANDBOX_ONLY
 */
export function requireSandbox({ mode }: Service): void {
  if (mode !== 'sandbox') throw new Refusal('SANDBOX_ONLY', 'This exists in MODE=sandbox only.')
}
