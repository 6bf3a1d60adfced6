import type { FastifyRequest } from 'fastify'
import type { FieldFault } from '../../core/errors.ts'
import { invalidInput } from '../../core/errors.ts'
import type { Read } from '../../core/net/json-text.ts'
import { readJson } from '../../core/net/json-text.ts'
import type { DocumentName } from '../../graphql/documents/resolve-document.ts'
import type { GraphqlRequest } from '../../graphql/execution/engine.ts'
import { repeatedName } from '../http/json-body.ts'

/**
 * The parameters of a request (GraphQL over HTTP, 5.1), which a POST has in its body and a GET in its query string.
 *
 * @throws Refusal INVALID_INPUT that names each one that has the wrong type, or is given twice
 */
export function parametersOf({ method, body, query }: FastifyRequest): GraphqlRequest {
  return checked(method === 'POST' ? body : decodedQuery(query as Record<string, unknown>))
}

/** A query string as a body would have it; what is no JSON stays a string, and is refused as one. */
function decodedQuery({ variables, extensions, ...others }: Record<string, unknown>): Record<string, unknown> {
  return { ...others, variables: decoded('variables', variables), extensions: decoded('extensions', extensions) }
}

function decoded(name: string, given: unknown): unknown {
  if (typeof given !== 'string' || given === '') return given || null
  let read: Read
  try {
    read = readJson(given)
  } catch {
    return given
  }
  if (read.repeated !== null) throw repeatedName(`${name}.${read.repeated}`)
  return read.value
}

function checked(body: unknown): GraphqlRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const message = Array.isArray(body) ? 'must be one request: there are no batches' : 'must be a JSON object'
    throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message }])
  }
  const { query, operationName = null, variables = null, extensions = null } = body as Record<string, unknown>
  const faults: FieldFault[] = []
  const name = nameIn(body as Record<string, unknown>, faults)
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
  if (!isMap(variables)) faults.push({ field: 'variables', code: 'INVALID_FORMAT', message: 'must be an object' })
  if (!isMap(extensions)) faults.push({ field: 'extensions', code: 'INVALID_FORMAT', message: 'must be an object' })
  if (faults.length > 0) throw invalidInput(faults)
  return {
    query: isNoText ? null : (query as string),
    name,
    operationName: (operationName as string | null) || null,
    variables: (variables ?? {}) as Record<string, unknown>,
  }
}

/** Characters of a name: those of trusted documents have as many, and a hash has 64. */
const longestName = 207

/** What a request calls its document, by the draft of GraphQL over HTTP (appendix A) or as Apollo's and urql's links do. */
function nameIn({ documentId = null, extensions }: Record<string, unknown>, faults: FieldFault[]): DocumentName | null {
  if (documentId !== null) return named('documentId', 'documentId', documentId, faults)
  const persistedQuery = mapOf(extensions)?.persistedQuery ?? null
  if (persistedQuery === null) return null
  const field = 'extensions.persistedQuery'
  const { version, sha256Hash } = mapOf(persistedQuery) ?? {}
  if (version === 1) return named('sha256Hash', `${field}.sha256Hash`, sha256Hash, faults)
  faults.push({ field, code: 'INVALID_PARAMETER', message: 'must be an object of version 1' })
  return null
}

function named(kind: DocumentName['kind'], field: string, value: unknown, faults: FieldFault[]): DocumentName {
  if (typeof value === 'string' && value.length > 0 && value.length <= longestName) return { kind, value }
  faults.push({ field, code: 'INVALID_FORMAT', message: `must be a string of 1 to ${longestName} characters` })
  return { kind, value: '' }
}

function mapOf(value: unknown): Record<string, unknown> | null {
  return isMap(value) ? (value as Record<string, unknown> | null) : null
}

function isMap(value: unknown): boolean {
  return value === null || (typeof value === 'object' && !Array.isArray(value))
}
