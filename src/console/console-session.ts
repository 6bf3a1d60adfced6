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
  /** `signIn` is `null` on the console of this machine, which has no sign-in. */
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

/** A CSRF token is valid only for this path, action and target. */
type CsrfPurpose = { readonly path: string; readonly action: string; readonly target: string }

type Signer = Pick<ConsoleSession, 'sign'>

/** The CSRF token contains the form's id, which makes the action idempotent, and an HMAC of the id and the purpose. */
export function createCsrfToken({ sign }: Signer, formId: string, purpose: CsrfPurpose): string {
  return `${formId}.${sign(csrfPayload(formId, purpose))}`
}

/** Returns the form's id, or `null` if the CSRF token is forged or for another purpose. */
export function verifyCsrfToken({ sign }: Signer, csrfToken: string, purpose: CsrfPurpose): string | null {
  const [formId = '', signature = ''] = csrfToken.split('.')
  const isValid = parseUuid(formId) === formId && isEqualConstantTime(signature, sign(csrfPayload(formId, purpose)))
  return isValid ? formId : null
}

function csrfPayload(formId: string, { path, action, target }: CsrfPurpose): string {
  return JSON.stringify([formId, path, action, target])
}
