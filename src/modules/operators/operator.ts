import { z } from 'zod'
import { rejectField, text } from '../../core/input.ts'

/** The role `look` may open all pages of the console. The role `act` may also perform actions. */
export const operatorRoles = ['look', 'act'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/**
 * `id` is `null` for an operator from CONSOLE_USERS. `revision` increases when an operator's role or password changes.
 */
export type Operator = {
  readonly id: string | null
  readonly name: string
  readonly role: OperatorRole
  readonly revision: number
}

export type ConfiguredOperator = Pick<Operator, 'name' | 'role'> & { readonly passwordHash: string }

/** NIST's minimum length if a password is the only factor (SP 800-63B-4, 3.1.1.2). */
const minPasswordLength = 15
const maxPasswordLength = 256

const operatorNameFormat = 'must be 1 to 64 of a-z, 0-9 and . _ @ + -, and begin with a letter or digit'

export function parseOperatorName(typed: string): string | null {
  const name = typed.trim().toLowerCase()
  return /^[a-z0-9][a-z0-9._@+-]{0,63}$/.test(name) ? name : null
}

export const operatorName = () =>
  text().transform(
    (value, context) => parseOperatorName(value) ?? rejectField(context, 'INVALID_FORMAT', operatorNameFormat),
  )

/** A password may contain any characters. The length of a password is counted in code points. */
export const newPassword = () =>
  z.string().transform((value, context) => {
    const length = [...value].length
    if (length >= minPasswordLength && length <= maxPasswordLength) return value
    const message = `must have ${minPasswordLength} to ${maxPasswordLength} characters`
    return rejectField(context, 'INVALID_FORMAT', message)
  })
