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

/** `sandbox` has the demo merchant and test addresses; `live` rejects both. */
export const modes = ['sandbox', 'live'] as const
export type Mode = (typeof modes)[number]

/** The database and the only sources of time and ids. */
export type Service = {
  readonly db: Database
  readonly mode: Mode
  /** The time of creations and changes; never goes back. */
  readonly now: RecordClock
  /** Compares with other clocks, and decides what has expired or is due; may go back when the clock is corrected. */
  readonly wallClock: WallClock
  readonly newId: () => string
  /** Encrypts secrets that must be read again, if there is a key. */
  readonly secrets: Secrets
  /** The entries of WEBHOOK_ALLOW: addresses that webhooks may be sent to in addition to public ones. */
  readonly webhookAllowed: readonly string[]
  /** Runs an operation for an API. */
  readonly perform: Perform
  /** Set only if the request is traced. */
  readonly trace?: TraceContext
}

/** A W3C Trace Context of a recorded span, as plain data, so that it can be sent to the writer process. */
export type TraceContext = {
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
}

export type OperationDeclaration<Name extends string = string> = Access & { readonly name: Name }

/**
 * A function that changes something, with its declaration (`define-operation.ts`). Input and result are plain data,
 * because both may cross a socket.
 */
export type Operation<Input, Result, Declaration extends OperationDeclaration = OperationDeclaration> = ((
  context: Context,
  input: Input,
) => Promise<Result>) & { readonly declaration: Declaration }

/** `isReplayed` if an earlier request with the idempotency key ran the operation. */
export type IdempotentResult<Result> = { readonly result: Result; readonly isReplayed: boolean }

/**
 * Runs an operation in this process, or in the writer process, which finds it by its declared name. Results and errors
 * are the same.
 *
 * @throws DomainError UNAVAILABLE if the writer process is not running, or exited before it responded
 */
export type Perform = <Input, Result>(
  operation: Operation<Input, Result>,
  context: Context,
  input: Input,
) => Promise<Result>

export const performLocally: Perform = (operation, context, input) => operation(context, input)

/** A request of one merchant. */
export type Context = Service & {
  readonly merchantId: string
  readonly caller: Caller
  /** Unquoted; `null` if there is none. */
  readonly idempotencyKey: string | null
  /** Offset of the merchant's sandbox clock, which `now` follows, in milliseconds. */
  readonly aheadMs: number
  /** Aborts waiting: the caller has disconnected, or the service is shutting down. */
  readonly signal?: AbortSignal
}

/**
 * Returns the merchant's wall time, which decides what is in force or expired; may go back when the clock is corrected.
 */
export function merchantWallTime({ wallClock, aheadMs }: Pick<Context, 'wallClock' | 'aheadMs'>): WallTime {
  return wallTimeAfter(aheadMs, wallClock())
}

/** Tests pass their own clock. */
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
 * Creates the context of a request.
 *
 * Enforces the caller's scopes and customer scope here, around the database and around operations, so that no other
 * code has to check them.
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
  // Assigned to the same object, so that all contexts have one hidden class in V8.
  return caller.scopes === null && caller.customerId === null
    ? context
    : Object.assign(context, restrictToCaller(context))
}

function restrictToCaller({ caller, perform, db: unscoped }: Context): Pick<Context, 'db' | 'perform'> {
  const db = caller.customerId === null ? unscoped : databaseForCustomer(unscoped, caller, caller.customerId)
  return {
    db: hasScope(caller, 'read') ? db : denyReads(db, caller),
    perform: async (operation, operationContext, input) => {
      requireAllowed(caller, operation.declaration)
      return perform(operation, { ...operationContext, db }, input)
    },
  }
}

/** Returns the database with customer scope, cached per token: creating it is a noticeable part of a small read. */
function databaseForCustomer(unscoped: Database, caller: Caller, customerId: string): Database {
  const cached = customerDatabases.get(caller)
  if (cached?.unscoped === unscoped) return cached.db
  const db = customerScope(unscoped, customerId)
  customerDatabases.set(caller, { unscoped, db })
  return db
}

const customerDatabases = new WeakMap<Caller, { readonly unscoped: Database; readonly db: Database }>()

export function withClockOffset(context: Context, aheadMs: number): Context {
  return { ...context, now: offsetClock(aheadMs - context.aheadMs, context.now), aheadMs }
}

/**
 * Returns the time of a change: now, but never before the previous change, which another process's clock may have
 * stamped.
 */
export function newUpdatedAt({ now }: Pick<Service, 'now'>, { updatedAt }: { updatedAt: string }): string {
  const time = timestamp(now())
  return time > updatedAt ? time : updatedAt
}

/** As `newUpdatedAt`, but always later than the previous change, by at least a millisecond. */
export function strictlyLaterUpdatedAt({ now }: Pick<Service, 'now'>, { updatedAt }: { updatedAt: string }): string {
  return timestamp(Math.max(now(), Date.parse(updatedAt) + 1))
}
