import type { Clock, RecordClock, WallClock, WallTime } from '../core/ids-and-clock.ts'
import {
  createRecordClock,
  createUuidV7Generator,
  createWallClock,
  offsetClock,
  timestamp,
  wallTimeAfter,
} from '../core/ids-and-clock.ts'
import type { Secrets } from '../core/secrets/secrets.ts'
import { noSecrets } from '../core/secrets/secrets.ts'
import { customerScope } from '../database/customer-scope.ts'
import type { Database } from '../database/database.ts'
import type { Caller } from './access/api-caller.ts'
import { denyReads, hasScope, requireAllowed, systemCaller } from './access/api-caller.ts'
import type { Access } from './access/scopes.ts'

/** `sandbox` has the demo merchant and test addresses; `live` refuses both. */
export const modes = ['sandbox', 'live'] as const
export type Mode = (typeof modes)[number]

/** What every operation works with, whoever asks: the database and the only sources of time and ids. */
export type Service = {
  readonly db: Database
  readonly mode: Mode
  /** When something is made or changed; never goes back. */
  readonly now: RecordClock
  /** What the clocks of others are compared with, and what decides whether something is over or due; goes back when corrected. */
  readonly wallClock: WallClock
  /** A UUIDv7 for now. */
  readonly newId: () => string
  /** Keeps what must be read again but not lie open, where there is a key for it. */
  readonly secrets: Secrets
  /** Where webhooks may go beside public addresses: the entries of WEBHOOK_ALLOW. */
  readonly webhookAllowed: readonly string[]
  /** Runs an operation that writes, for a door. */
  readonly perform: Perform
  /** The trace that this belongs to; only where the request is being traced. */
  readonly trace?: TraceContext
}

/**
 * A place in a trace, as W3C Trace Context has it, below which something is done: plain data, so that it goes to the process
 * that writes. There is none of what is not recorded.
 */
export type TraceContext = {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 of them. */
  readonly spanId: string
}

/** The facts that every operation declares: its name, and who may run it. */
export type OperationDeclaration<Name extends string = string> = Access & { readonly name: Name }

/**
 * A function that changes something, with its declaration (`define-operation.ts`). Input and result are plain data, because
 * both may cross a socket.
 */
export type Operation<Input, Result, Declaration extends OperationDeclaration = OperationDeclaration> = ((
  context: Context,
  input: Input,
) => Promise<Result>) & { readonly declaration: Declaration }

/** The result of an operation that runs once for each idempotency key; `isReplayed` if an earlier request ran it. */
export type IdempotentResult<Result> = { readonly result: Result; readonly isReplayed: boolean }

/**
 * Runs an operation in this process, or in the writer process, which finds it by the name that it declares. Results and
 * errors are the same.
 *
 * @throws Refusal UNAVAILABLE when the writer process is not running, or was lost before it answered
 */
export type Perform = <Input, Result>(
  operation: Operation<Input, Result>,
  context: Context,
  input: Input,
) => Promise<Result>

/** Runs it in this process. */
export const performLocally: Perform = (operation, context, input) => operation(context, input)

/** A request of one merchant. */
export type Context = Service & {
  readonly merchantId: string
  readonly caller: Caller
  /** The caller's idempotency key, unquoted; `null` when it gave none. */
  readonly idempotencyKey: string | null
  /** How far the merchant's clock, which `now` follows, is ahead of the machine's in milliseconds: in the sandbox it may be. */
  readonly aheadMs: number
  /** Ends what waits for something to happen: the caller has gone, or the service is about to. */
  readonly signal?: AbortSignal
}

/** The merchant's time as the machine has it, which decides what is in force or over; goes back when the clock is corrected. */
export function merchantWallTime({ wallClock, aheadMs }: Pick<Context, 'wallClock' | 'aheadMs'>): WallTime {
  return wallTimeAfter(aheadMs, wallClock())
}

/** The service on an open database, which keeps no secrets unless it is given a key; tests give their own clock. */
export function createService({
  db,
  mode,
  clock,
  secrets = noSecrets,
  webhookAllowed = [],
  perform = performLocally,
}: {
  db: Database
  mode: Mode
  clock?: Clock
  secrets?: Secrets
  webhookAllowed?: readonly string[]
  perform?: Perform
}): Service {
  const now = createRecordClock(clock)
  const newId = createUuidV7Generator()
  return {
    db,
    mode,
    now,
    wallClock: createWallClock(clock),
    newId: () => newId(now()),
    secrets,
    webhookAllowed,
    perform,
  }
}

/**
 * A request of `merchantId` to the service, by a clock that may be ahead of the machine's.
 *
 * Whatever the caller may not see or do is held here, around the database and around operations: nothing else need ask.
 */
export function createContext(
  service: Service,
  merchantId: string,
  idempotencyKey: string | null = null,
  aheadMs = 0,
  caller: Caller = systemCaller,
): Context {
  const now = aheadMs === 0 ? service.now : offsetClock(aheadMs, service.now)
  const context = { ...service, now, merchantId, caller, idempotencyKey, aheadMs }
  // Put into the same object: to whatever reads contexts those of all callers are of one form.
  return caller.scopes === null && caller.customerId === null
    ? context
    : Object.assign(context, restrictToCaller(context))
}

function restrictToCaller({ caller, perform, db: whole }: Context): Pick<Context, 'db' | 'perform'> {
  const db = caller.customerId === null ? whole : databaseForCustomer(whole, caller, caller.customerId)
  return {
    db: hasScope(caller, 'read') ? db : denyReads(db, caller),
    perform: async (operation, asking, input) => {
      requireAllowed(caller, operation.declaration)
      return perform(operation, { ...asking, db }, input)
    },
  }
}

/** The database for who acts as one customer, made once while its token is known: else that is a part of what a small read costs. */
function databaseForCustomer(whole: Database, caller: Caller, customerId: string): Database {
  const known = customerDatabases.get(caller)
  if (known?.whole === whole) return known.db
  const db = customerScope(whole, customerId)
  customerDatabases.set(caller, { whole, db })
  return db
}

const customerDatabases = new WeakMap<Caller, { readonly whole: Database; readonly db: Database }>()

/** The same request by another clock. */
export function withClockOffset(context: Context, aheadMs: number): Context {
  return { ...context, now: offsetClock(aheadMs - context.aheadMs, context.now), aheadMs }
}

/** When a row changes: now, and never before it was made or last changed, by the clock of whichever process that was. */
export function newUpdatedAt({ now }: Pick<Service, 'now'>, { updatedAt }: { updatedAt: string }): string {
  const time = timestamp(now())
  return time > updatedAt ? time : updatedAt
}

/** The same where each change must be told from the one before: later than that, if only by a millisecond. */
export function strictlyLaterUpdatedAt({ now }: Pick<Service, 'now'>, { updatedAt }: { updatedAt: string }): string {
  return timestamp(Math.max(now(), Date.parse(updatedAt) + 1))
}
