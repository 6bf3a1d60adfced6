import { DomainError, unavailable } from '../../core/errors.ts'
import { fencedMessage } from '../copy/copy-side.ts'
import { ConflictError } from '../database.ts'

/** PostgreSQL's error codes (SQLSTATE) have five characters. */
export function sqlState(error: unknown): string | null {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null
}

/**
 * A retry after a serialization failure, a deadlock or a unique violation sees the rows of the concurrent transaction.
 */
export function isRetryableConflict(error: unknown): boolean {
  return error instanceof ConflictError || ['40001', '40P01', '23505'].includes(sqlState(error) ?? '')
}

export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== null) return /^08|^57P0|^25P03/.test(state) || (error as { severity?: string }).severity === 'FATAL'
  return /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_|ENOTFOUND)|Connection terminated|Client has encountered/.test(
    `${(error as { code?: unknown })?.code ?? ''}${(error as Error)?.message ?? ''}`,
  )
}

/** A connection to a read-only server is unusable, because another server has become the primary. */
export function isConnectionUnusable(error: unknown): boolean {
  return isConnectionLost(error) || sqlState(error) === '25006'
}

/** The server lacks connections, disk or memory, a timeout has expired, or another server has become the primary. */
export function isTransient(error: unknown): boolean {
  return /^(53|57|58|55P03|25006|40)/.test(sqlState(error) ?? '')
}

/** `fencedState` is in PostgreSQL's error class 57 (operator intervention). */
export const fencedState = '57M01'

export function unavailableIfTransient(error: unknown): unknown {
  if (error instanceof DomainError) return error
  if (sqlState(error) === fencedState) return Object.assign(unavailable(fencedMessage), { cause: error })
  const mayPass = error instanceof ConflictError || isConnectionLost(error) || isTransient(error)
  return mayPass ? Object.assign(unavailable(), { cause: error }) : error
}
