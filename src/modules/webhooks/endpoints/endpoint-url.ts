import type { FieldFault } from '../../../core/errors.ts'
import { isGiven } from '../../../core/input.ts'
import type { Service } from '../../../operations/context.ts'
import { allowanceOf } from '../transport/allowlist.ts'
import { urlFault } from '../transport/check-url.ts'

/** What is wrong with the URL of an endpoint beyond its being text; nothing where it was not given. */
export function urlFaults({ mode, webhookAllowed }: Service, url: unknown): FieldFault[] {
  if (typeof url !== 'string' || !isGiven(url)) return []
  const message = urlFault(url.trim(), { mode, allowance: allowanceOf(webhookAllowed, mode) })
  return message === null ? [] : [{ field: 'url', code: 'INVALID_PARAMETER', message }]
}
