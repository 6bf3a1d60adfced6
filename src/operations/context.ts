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
import type { BankDirectory } from './bank-directory.ts'

/** Only the mode `sandbox` has the demo merchant and accepts test addresses. */
export const modes = ['sandbox', 'live'] as const
export type Mode = (typeof modes)[number]

/** Code must get all times and ids from the service object. */
export type Service = {
  readonly db: Database
  readonly mode: Mode
  /** Created and changed rows get their times from `now`, a clock that never goes backwards. */
  readonly now: RecordClock
  /**
   * `wallClock` is for expiry, due times and comparisons with clocks of other machines. A correction of the system
   * clock can move `wallClock` back.
   */
  readonly wallClock: WallClock
  readonly newId: () => string
  readonly secrets: Secrets
  /** The webhook destinations that WEBHOOK_ALLOW permits in addition to public addresses. */
  readonly webhookAllowed: readonly string[]
  readonly perform: Perform
  readonly trace?: TraceContext
  /** Only the REST API sets `bankDirectory`. */
  readonly bankDirectory?: BankDirectory
}

/** The W3C trace context is plain data, because it is sent to the writer process. */
export type TraceContext = {
  readonly traceId: string
  readonly spanId: string
}

export type OperationDeclaration<Name extends string = string> = Access & { readonly name: Name }

/** An operation's input and result must be plain data, because both can be sent over a socket. */
export type Operation<Input, Result, Declaration extends OperationDeclaration = OperationDeclaration> = ((
  context: Context,
  input: Input,
) => Promise<Result>) & { readonly declaration: Declaration }

/** `isReplayed` is true if an earlier request with the same idempotency key ran the operation. */
export type IdempotentResult<Result> = { readonly result: Result; readonly isReplayed: boolean }

/**
 * Runs an operation in this process or in the writer process.
 *
 * @throws DomainError UNAVAILABLE if the writer process is not running, or exited before it responded
 */
export type Perform = <Input, Result>(
  operation: Operation<Input, Result>,
  context: Context,
  input: Input,
) => Promise<Result>

export const performLocally: Perform = (operation, context, input) => operation(context, input)

export type Context = Service & {
  readonly merchantId: string
  readonly caller: Caller
  /** The idempotency key without quotation marks. */
  readonly idempotencyKey: string | null
  /** The offset of the merchant's sandbox clock in milliseconds. `now` already includes this offset. */
  readonly aheadMs: number
  /** The signal aborts when the caller disconnects or the service shuts down. */
  readonly signal?: AbortSignal
}

/** A correction of the system clock can move the merchant's wall time back. */
export function merchantWallTime({ wallClock, aheadMs }: Pick<Context, 'wallClock' | 'aheadMs'>): WallTime {
  return wallTimeAfter(aheadMs, wallClock())
}

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

/** `db` and `perform` enforce the caller's scopes and customer, so no other code has to check them. */
export function createContext(
  service: Service,
  merchantId: string,
  idempotencyKey: string | null = null,
  aheadMs = 0,
  caller: Caller = systemCaller,
): Context {
  const now = aheadMs === 0 ? service.now : offsetClock(aheadMs, service.now)
  const context = { ...service, now, merchantId, caller, idempotencyKey, aheadMs }
  // Extends the object instead of copying it, because all contexts must have the same hidden class in V8.
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

/**
 * Creating a customer's restricted database object takes a noticeable part of a small read's time, so the object is
 * cached.
 */
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

/** The clock of another process may be ahead, so the result is never earlier than the row's current `updatedAt`. */
export function newUpdatedAt({ now }: Pick<Service, 'now'>, { updatedAt }: { updatedAt: string }): string {
  const time = timestamp(now())
  return time > updatedAt ? time : updatedAt
}

export function strictlyLaterUpdatedAt({ now }: Pick<Service, 'now'>, { updatedAt }: { updatedAt: string }): string {
  return timestamp(Math.max(now(), Date.parse(updatedAt) + 1))
}
