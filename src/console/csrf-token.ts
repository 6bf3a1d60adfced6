import { parseUuid } from '../core/ids.ts'
import type { Entrance } from './login-session.ts'
import { isSame } from './login-session.ts'

/** What a form is for: the page that it stands on, and what it does there to what. */
type Purpose = { readonly path: string; readonly action: string; readonly target: string }

/**
 * What a form proves itself with: an id of its own, under which it is done once, sealed with what it is for. Nobody makes one
 * who has not read the page.
 */
export function sealForm({ seal }: Entrance, formId: string, purpose: Purpose): string {
  return `${formId}.${seal(textOf(formId, purpose))}`
}

/** The id of a form that was sent; `null` where it is not one of ours, or for something else. */
export function openForm({ seal }: Entrance, sealed: string, purpose: Purpose): string | null {
  const [formId = '', mark = ''] = sealed.split('.')
  return parseUuid(formId) === formId && isSame(mark, seal(textOf(formId, purpose))) ? formId : null
}

function textOf(formId: string, { path, action, target }: Purpose): string {
  return JSON.stringify([formId, path, action, target])
}
