import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import type { FormattedResult } from '../../graphql/execution/execute.ts'
import { graphqlResponseJson } from '../http/content-negotiation.ts'

/** A status, and headers beside those that every answer has. */
export type HttpResponseHead = { readonly status: number; readonly headers: Record<string, string> }

/**
 * How HTTP tells a result in a media type. What went wrong is in the body, but a wrong method, what the caller may not do and a
 * store that takes nothing are HTTP's, and the newer type has it say that nothing ran, where clients of the older one expect 200 (GraphQL over HTTP, 6.4).
 */
export function responseHeadOf({ data, errors }: FormattedResult, type: string): HttpResponseHead {
  if (errors === undefined) return { status: 200, headers: {} }
  // Where one field has been answered it is a success, though another has failed.
  if (data && Object.values(data).some((value) => value !== null)) return { status: 200, headers: {} }
  const codes = errors.map((error) => error.extensions.code)
  if (codes.includes('METHOD_NOT_ALLOWED')) {
    return { status: httpStatusByCode.METHOD_NOT_ALLOWED, headers: { allow: 'POST' } }
  }
  if (codes.includes('UNAVAILABLE'))
    return { status: httpStatusByCode.UNAVAILABLE, headers: errorHeaders('UNAVAILABLE') }
  if (codes.every((code) => code === 'INSUFFICIENT_SCOPE'))
    return { status: httpStatusByCode.INSUFFICIENT_SCOPE, headers: {} }
  return {
    status: data === undefined && type === graphqlResponseJson ? httpStatusByCode.MALFORMED_REQUEST : 200,
    headers: {},
  }
}
