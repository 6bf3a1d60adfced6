import type { FastifyRequest } from 'fastify'
import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import type { FieldError } from '../../core/errors.ts'
import { invalidInput } from '../../core/errors.ts'
import type { ParsedJson } from '../../core/net/json-text.ts'
import { parseJsonText } from '../../core/net/json-text.ts'
import type { DocumentIdentifier } from '../../graphql/documents/resolve-document.ts'
import type { GraphqlRequest } from '../../graphql/execution/engine.ts'
import type { FormattedResult } from '../../graphql/execution/execute.ts'
import { graphqlResponseJson } from '../http/accepted-media-types.ts'
import { repeatedNameError } from '../http/json-body.ts'

/**
 * The parameters of a request (GraphQL over HTTP, 5.1), which a POST has in its body and a GET in its query string.
 *
 * @throws Refusal INVALID_INPUT that names each one that has the wrong type, or is given twice
 */
export function readRequestParameters({ method, body, query }: FastifyRequest): GraphqlRequest {
  return validateParameters(method === 'POST' ? body : decodeQuery(query as Record<string, unknown>))
}

/** A query string as a body would have it; what is no JSON stays a string, and is refused as one. */
function decodeQuery({ variables, extensions, ...others }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...others,
    variables: decodeParameter('variables', variables),
    extensions: decodeParameter('extensions', extensions),
  }
}

function decodeParameter(name: string, given: unknown): unknown {
  if (typeof given !== 'string' || given === '') return given || null
  let read: ParsedJson
  try {
    read = parseJsonText(given)
  } catch {
    return given
  }
  if (read.duplicatePath !== null) throw repeatedNameError(`${name}.${read.duplicatePath}`)
  return read.value
}

function validateParameters(body: unknown): GraphqlRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const message = Array.isArray(body) ? 'must be one request: there are no batches' : 'must be a JSON object'
    throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message }])
  }
  const { query, operationName = null, variables = null, extensions = null } = body as Record<string, unknown>
  const faults: FieldError[] = []
  const name = readDocumentIdentifier(body as Record<string, unknown>, faults)
  const isNoText = query === undefined || query === null || query === ''
  if (name && isNoText) {
    // The name is all that it needs.
  } else if (name?.kind === 'documentId') {
    faults.push({ field: 'query', code: 'INVALID_PARAMETER', message: 'must be left out where documentId is given' })
  } else if (typeof query !== 'string' || query.trim() === '') {
    faults.push({ field: 'query', code: 'MISSING_REQUIRED_FIELD', message: 'must be a GraphQL document' })
  }
  if (operationName !== null && typeof operationName !== 'string') {
    faults.push({ field: 'operationName', code: 'INVALID_FORMAT', message: 'must be a string' })
  }
  if (!isMapOrNull(variables)) faults.push({ field: 'variables', code: 'INVALID_FORMAT', message: 'must be an object' })
  if (!isMapOrNull(extensions))
    faults.push({ field: 'extensions', code: 'INVALID_FORMAT', message: 'must be an object' })
  if (faults.length > 0) throw invalidInput(faults)
  return {
    query: isNoText ? null : (query as string),
    identifier: name,
    operationName: (operationName as string | null) || null,
    variables: (variables ?? {}) as Record<string, unknown>,
  }
}

/** Characters of a name: those of trusted documents have as many, and a hash has 64. */
const maxIdentifierLength = 207

/** What a request calls its document, by the draft of GraphQL over HTTP (appendix A) or as Apollo's and urql's links do. */
function readDocumentIdentifier(
  { documentId = null, extensions }: Record<string, unknown>,
  faults: FieldError[],
): DocumentIdentifier | null {
  if (documentId !== null) return toDocumentIdentifier('documentId', 'documentId', documentId, faults)
  const persistedQuery = asMap(extensions)?.persistedQuery ?? null
  if (persistedQuery === null) return null
  const field = 'extensions.persistedQuery'
  const { version, sha256Hash } = asMap(persistedQuery) ?? {}
  if (version === 1) return toDocumentIdentifier('sha256Hash', `${field}.sha256Hash`, sha256Hash, faults)
  faults.push({ field, code: 'INVALID_PARAMETER', message: 'must be an object of version 1' })
  return null
}

function toDocumentIdentifier(
  kind: DocumentIdentifier['kind'],
  field: string,
  value: unknown,
  faults: FieldError[],
): DocumentIdentifier {
  if (typeof value === 'string' && value.length > 0 && value.length <= maxIdentifierLength) return { kind, value }
  faults.push({ field, code: 'INVALID_FORMAT', message: `must be a string of 1 to ${maxIdentifierLength} characters` })
  return { kind, value: '' }
}

function asMap(value: unknown): Record<string, unknown> | null {
  return isMapOrNull(value) ? (value as Record<string, unknown> | null) : null
}

function isMapOrNull(value: unknown): boolean {
  return value === null || (typeof value === 'object' && !Array.isArray(value))
}

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
