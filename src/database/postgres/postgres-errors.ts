import { DomainError, unavailable } from '../../core/errors.ts'
import { ConflictError } from '../database.ts'

/** What PostgreSQL calls an error: five characters, the first two its class. */
export function sqlState(error: unknown): string | null {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null
}

/** Lost to another transaction: run again it may pass, and it finds what it did not find before. */
export function isRetryableConflict(error: unknown): boolean {
  return error instanceof ConflictError || ['40001', '40P01', '23505'].includes(sqlState(error) ?? '')
}

/** Waited for a lock for as long as it may. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

/** The connection, and with it whatever ran on it, is over: it broke, or the server ended it or went away. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== null) return /^08|^57P0|^25P03/.test(state) || (error as { severity?: string }).severity === 'FATAL'
  return /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_|ENOTFOUND)|Connection terminated|Client has encountered/.test(
    `${(error as { code?: unknown })?.code ?? ''}${(error as Error)?.message ?? ''}`,
  )
}

/** Nothing more can be done on the connection: it is over, or its server only reads because another took its place. */
export function isConnectionUnusable(error: unknown): boolean {
  return isConnectionLost(error) || sqlState(error) === '25006'
}

/**
 * The server can't do it now and may later: it has no connection, disk, memory or time left, a lock was not to be had, or
 * it only reads because another took its place.
 */
export function isTransient(error: unknown): boolean {
  return /^(53|57|58|55P03|25006|40)/.test(sqlState(error) ?? '')
}

/** What the caller is told: UNAVAILABLE for what may pass, a fault of ours as it is. */
export function unavailableIfTransient(error: unknown): unknown {
  if (error instanceof DomainError) return error
  const mayPass = error instanceof ConflictError || isConnectionLost(error) || isTransient(error)
  return mayPass ? Object.assign(unavailable(), { cause: error }) : error
}
