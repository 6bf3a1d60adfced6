import type { Service } from '../context.ts'
import { allowanceOf } from '../delivery/allowance.ts'
import { urlFault } from '../delivery/check-url.ts'
import type { FieldFault } from '../errors.ts'
import { isGiven } from '../input.ts'

/** What is wrong with the URL of an endpoint beyond its being text; nothing where it was not given. */
export function urlFaults({ mode, webhookAllowed }: Service, url: unknown): FieldFault[] {
  if (typeof url !== 'string' || !isGiven(url)) return []
  const message = urlFault(url.trim(), { mode, allowance: allowanceOf(webhookAllowed, mode) })
  return message === null ? [] : [{ field: 'url', code: 'INVALID_PARAMETER', message }]
}
