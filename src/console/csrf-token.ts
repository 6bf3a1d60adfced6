import { parseUuid } from '../core/ids-and-clock.ts'
import type { LoginSession } from './login-session.ts'
import { isEqualConstantTime } from './login-session.ts'

/** What a form is for: the page that it stands on, and what it does there to what. */
type CsrfPurpose = { readonly path: string; readonly action: string; readonly target: string }

/**
 * What a form proves itself with: an id of its own, under which it is done once, sealed with what it is for. Nobody makes one
 * who has not read the page.
 */
export function createCsrfToken({ sign: seal }: LoginSession, formId: string, purpose: CsrfPurpose): string {
  return `${formId}.${seal(csrfPayload(formId, purpose))}`
}

/** The id of a form that was sent; `null` where it is not one of ours, or for something else. */
export function verifyCsrfToken({ sign: seal }: LoginSession, sealed: string, purpose: CsrfPurpose): string | null {
  const [formId = '', mark = ''] = sealed.split('.')
  return parseUuid(formId) === formId && isEqualConstantTime(mark, seal(csrfPayload(formId, purpose))) ? formId : null
}

function csrfPayload(formId: string, { path, action, target }: CsrfPurpose): string {
  return JSON.stringify([formId, path, action, target])
}
