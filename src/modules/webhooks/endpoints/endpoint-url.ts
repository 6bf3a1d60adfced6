import type { FieldError } from '../../../core/errors.ts'
import { hasValue } from '../../../core/input.ts'
import type { Service } from '../../../operations/context.ts'
import { createAllowlist, findUrlError } from '../transport/destination-policy.ts'

/** What is wrong with the URL of an endpoint beyond its being text; nothing where it was not given. */
export function findUrlFieldErrors({ mode, webhookAllowed }: Service, url: unknown): FieldError[] {
  if (typeof url !== 'string' || !hasValue(url)) return []
  const message = findUrlError(url.trim(), { mode, allowlist: createAllowlist(webhookAllowed, mode) })
  return message === null ? [] : [{ field: 'url', code: 'INVALID_PARAMETER', message }]
}
