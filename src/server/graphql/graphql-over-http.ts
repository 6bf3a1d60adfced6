import type { FastifyRequest } from 'fastify'
import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import type { FieldError } from '../../core/errors.ts'
import { invalidInput } from '../../core/errors.ts'
import type { ParsedJson } from '../../core/net/json-text.ts'
import { parseJsonText } from '../../core/net/json-text.ts'
import type { DocumentIdentifier } from '../../graphql/documents/resolve-document.ts'
import type { GraphqlRequest } from '../../graphql/execution/engine.ts'
import type { FormattedResult } from '../../graphql/execution/execute.ts'
import { graphqlResponseJson } from '../http/content-negotiation.ts'
import { repeatedNameError } from '../http/json-body.ts'

/**
 * @throws DomainError INVALID_INPUT with the name of each parameter that has the wrong type or is repeated (GraphQL
 *   over HTTP, 5.1)
 */
export function readRequestParameters({ method, body, query }: FastifyRequest): GraphqlRequest {
  return validateParameters(method === 'POST' ? body : decodeQuery(query as Record<string, unknown>))
}

/** A query parameter with invalid JSON stays a string, and validation rejects it. */
function decodeQuery({ variables, extensions, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...rest,
    variables: decodeParameter('variables', variables),
    extensions: decodeParameter('extensions', extensions),
  }
}

function decodeParameter(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || value === '') return value || null
  let parsed: ParsedJson
  try {
    parsed = parseJsonText(value)
  } catch {
    return value
  }
  if (parsed.duplicatePath !== null) throw repeatedNameError(`${name}.${parsed.duplicatePath}`)
  return parsed.value
}

function validateParameters(body: unknown): GraphqlRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const message = Array.isArray(body) ? 'must be one request: there are no batches' : 'must be a JSON object'
    throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message }])
  }
  const { query, operationName = null, variables = null, extensions = null } = body as Record<string, unknown>
  const errors: FieldError[] = []
  const identifier = readDocumentIdentifier(body as Record<string, unknown>, errors)
  const hasNoText = query === undefined || query === null || query === ''
  if (identifier && hasNoText) {
  } else if (identifier?.kind === 'documentId') {
    errors.push({ field: 'query', code: 'INVALID_PARAMETER', message: 'must not be given together with documentId' })
  } else if (typeof query !== 'string' || query.trim() === '') {
    errors.push({ field: 'query', code: 'MISSING_REQUIRED_FIELD', message: 'must be a GraphQL document' })
  }
  if (operationName !== null && typeof operationName !== 'string') {
    errors.push({ field: 'operationName', code: 'INVALID_FORMAT', message: 'must be a string' })
  }
  if (!isMapOrNull(variables)) errors.push({ field: 'variables', code: 'INVALID_FORMAT', message: 'must be an object' })
  if (!isMapOrNull(extensions))
    errors.push({ field: 'extensions', code: 'INVALID_FORMAT', message: 'must be an object' })
  if (errors.length > 0) throw invalidInput(errors)
  return {
    query: hasNoText ? null : (query as string),
    identifier,
    operationName: (operationName as string | null) || null,
    variables: (variables ?? {}) as Record<string, unknown>,
  }
}

/** The id of a trusted document has at most 200 characters, after the prefix `sha256:`. */
const maxIdentifierLength = 207

/**
 * Reads the document id from `documentId` (GraphQL over HTTP, appendix A) or `extensions.persistedQuery` (Apollo and
 * urql).
 */
function readDocumentIdentifier(
  { documentId = null, extensions }: Record<string, unknown>,
  errors: FieldError[],
): DocumentIdentifier | null {
  if (documentId !== null) return toDocumentIdentifier('documentId', 'documentId', documentId, errors)
  const persistedQuery = asMap(extensions)?.persistedQuery ?? null
  if (persistedQuery === null) return null
  const field = 'extensions.persistedQuery'
  const { version, sha256Hash } = asMap(persistedQuery) ?? {}
  if (version === 1) return toDocumentIdentifier('sha256Hash', `${field}.sha256Hash`, sha256Hash, errors)
  errors.push({ field, code: 'INVALID_PARAMETER', message: 'must be an object of version 1' })
  return null
}

function toDocumentIdentifier(
  kind: DocumentIdentifier['kind'],
  field: string,
  value: unknown,
  errors: FieldError[],
): DocumentIdentifier {
  if (typeof value === 'string' && value.length > 0 && value.length <= maxIdentifierLength) return { kind, value }
  errors.push({ field, code: 'INVALID_FORMAT', message: `must be a string of 1 to ${maxIdentifierLength} characters` })
  return { kind, value: '' }
}

function asMap(value: unknown): Record<string, unknown> | null {
  return isMapOrNull(value) ? (value as Record<string, unknown> | null) : null
}

function isMapOrNull(value: unknown): boolean {
  return value === null || (typeof value === 'object' && !Array.isArray(value))
}

export type HttpResponseHead = { readonly status: number; readonly headers: Record<string, string> }

/**
 * A wrong method, a missing scope and an unavailable database have their own HTTP statuses. If nothing was executed,
 * every other error has the status 400 with `application/graphql-response+json`, and 200 with `application/json`
 * (GraphQL over HTTP, 6.4).
 */
export function responseHeadOf({ data, errors }: FormattedResult, type: string): HttpResponseHead {
  if (errors === undefined) return { status: 200, headers: {} }
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
