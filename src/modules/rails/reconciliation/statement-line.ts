import type { FieldError } from '../../../core/errors.ts'
import { invalidInput } from '../../../core/errors.ts'
import type { ReportState } from '../../rail-orders/rail-order.ts'

/** What a bank's statement says of one payment. */
export type StatementLine = {
  /** Where it stands, for people to find it. */
  readonly place: string
  /** What we call the payment: the order's id, with its hyphens or without; or whatever stands there. */
  readonly id: string | null
  /** What the bank calls it. */
  readonly reference: string | null
  /** A plain decimal, such as `1500.00`. */
  readonly amount: string
  readonly currency: string
  readonly state: ReportState
  readonly date: string | null
  /** Money that came in, of which it is not said whether it was ours before. */
  readonly isIncoming: boolean
}

/** A decimal without what does not change its value, so that two that are the same have the same text; `null` for none. */
export function normalizeDecimal(text: string): string | null {
  const [, whole, places = ''] = /^0*(\d+)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === undefined) return null
  const significant = places.replace(/0+$/, '')
  return significant === '' ? whole : `${whole}.${significant}`
}

/** The refusal of a statement that can't be read, with the place that can't. */
export function unreadableStatement(place: string, message: string): Error {
  const fault: FieldError = { field: 'file', code: 'INVALID_FORMAT', message: `${message} (${place})` }
  return invalidInput([fault])
}

/** What the fields of a line say, or the refusal of the place where it stands. */
export function validateLine(line: StatementLine): StatementLine {
  const amount = normalizeDecimal(line.amount)
  if (amount === null) throw unreadableStatement(line.place, 'must have plain decimal amounts, such as 1500.00')
  if (!/^[A-Z]{3}$/.test(line.currency))
    throw unreadableStatement(line.place, 'must have a currency of three capital letters')
  return { ...line, amount }
}
