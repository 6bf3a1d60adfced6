import type { FieldError } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import type { ReportState } from '../../rail-orders/rail-order.ts'

export type StatementLine = {
  readonly place: string
  /** The order id with or without hyphens, or another identifier that the bank uses. */
  readonly id: string | null
  readonly reference: string | null
  /** For example `1500.00`. */
  readonly amount: string
  readonly currency: string
  readonly state: ReportState
  readonly date: string | null
  /** True for a credit that the bank does not mark as a returned payment. */
  readonly isIncoming: boolean
}

export function normalizeDecimal(text: string): string | null {
  const [, whole, places = ''] = /^0*(\d+)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === undefined) return null
  const significant = places.replace(/0+$/, '')
  return significant === '' ? whole : `${whole}.${significant}`
}

export function unreadableStatement(place: string, message: string): Error {
  const fieldError: FieldError = { field: 'file', code: 'INVALID_FORMAT', message: `${message} (${place})` }
  return invalidInput([fieldError])
}

/** @throws DomainError INVALID_INPUT with the position of the line */
export function validateLine(line: StatementLine): StatementLine {
  const amount = normalizeDecimal(line.amount)
  if (amount === null) throw unreadableStatement(line.place, 'must have plain decimal amounts, such as 1500.00')
  if (!/^[A-Z]{3}$/.test(line.currency))
    throw unreadableStatement(line.place, 'must have a currency code of three uppercase letters')
  return { ...line, amount }
}
