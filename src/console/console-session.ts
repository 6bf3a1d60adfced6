import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseUuid } from '../core/ids-and-clock.ts'
import type { OperatorRole } from '../modules/operators/operator.ts'
import type { Actor } from '../modules/operators/record-action.ts'
import type { PastSignIn } from '../modules/operators/sign-in.ts'

export const idleTimeoutMs = 30 * 60_000
export const maxSessionMs = 12 * 3_600_000

export type ConsoleSession = {
  readonly actor: Actor
  readonly role: OperatorRole
  readonly can: (permission: OperatorRole) => boolean
  readonly sign: (text: string) => string
  readonly end: () => void
  /** The console on 127.0.0.1 has no sign-in, so `signIn` is `null`. */
  readonly signIn: { readonly previous: PastSignIn | null } | null
}

const permissionsByRole: Readonly<Record<OperatorRole, readonly OperatorRole[]>> = {
  look: ['look'],
  act: ['look', 'act'],
}

export function createSession(details: Pick<ConsoleSession, 'actor' | 'role' | 'end' | 'signIn'>): ConsoleSession {
  const hmacKey = randomBytes(32)
  return {
    ...details,
    can: (permission) => permissionsByRole[details.role].includes(permission),
    sign: (text) => createHmac('sha256', hmacKey).update(text).digest('base64url'),
  }
}

export function generateSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares hashes of the strings, so that neither their contents nor their lengths affect the duration. */
export function isEqualConstantTime(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}

/** A CSRF token is valid for one path, action and target. */
type CsrfPurpose = { readonly path: string; readonly action: string; readonly target: string }

type Signer = Pick<ConsoleSession, 'sign'>

/** The CSRF token consists of the form's id and an HMAC. The id makes the submission of the form idempotent. */
export function createCsrfToken({ sign }: Signer, formId: string, purpose: CsrfPurpose): string {
  return `${formId}.${sign(csrfPayload(formId, purpose))}`
}

/** Returns the form's id, or `null` if the CSRF token is invalid for this path, action and target. */
export function verifyCsrfToken({ sign }: Signer, csrfToken: string, purpose: CsrfPurpose): string | null {
  const [formId = '', signature = ''] = csrfToken.split('.')
  const isValid = parseUuid(formId) === formId && isEqualConstantTime(signature, sign(csrfPayload(formId, purpose)))
  return isValid ? formId : null
}

function csrfPayload(formId: string, { path, action, target }: CsrfPurpose): string {
  return JSON.stringify([formId, path, action, target])
}
