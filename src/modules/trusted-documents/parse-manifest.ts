import type { FieldError } from '../../core/errors.ts'
import { DomainError, invalidInput } from '../../core/errors.ts'
import { parseJsonText } from '../../core/net/json-text.ts'

export type ManifestDocument = { readonly id: string; readonly name: string | null; readonly text: string }

/** Document ids must not contain spaces, because document ids appear in URLs. */
const idPattern = /^[\x21-\x7e]{1,200}$/

const apolloFormat = 'apollo-persisted-query-manifest'

/**
 * A manifest has one of two formats: an object with texts by id (relay-compiler, client preset of graphql-codegen), or
 * Apollo's list of operations.
 *
 * @throws DomainError MALFORMED_JSON, INVALID_INPUT with an error for each invalid document
 */
export function parseManifest(content: string): readonly ManifestDocument[] {
  const manifest = parseManifestJson(content)
  if (!isObject(manifest)) throw manifestError('must be a JSON object')
  const documents = 'format' in manifest ? apolloDocuments(manifest) : Object.entries(manifest).map(toDocument)
  if (documents.length === 0) throw manifestError('has no documents')
  const errors = documents.flatMap(documentErrors)
  if (errors.length > 0) throw invalidInput(errors)
  return documents as readonly ManifestDocument[]
}

function parseManifestJson(content: string): unknown {
  let parsed: ReturnType<typeof parseJsonText>
  try {
    // Some build tools write a byte order mark.
    parsed = parseJsonText(content.replace(/^\uFEFF/, ''))
  } catch {
    throw new DomainError('MALFORMED_JSON', 'The manifest is not valid JSON.')
  }
  if (parsed.duplicatePath !== null)
    throw invalidInput([{ ...invalidParameter(parsed.duplicatePath), message: 'must be given once' }])
  return parsed.value
}

type UncheckedDocument = { readonly id: unknown; readonly name: string | null; readonly text: unknown }

function toDocument([id, text]: [string, unknown]): UncheckedDocument {
  return { id, name: null, text }
}

function apolloDocuments({ format, version, operations }: Record<string, unknown>): readonly UncheckedDocument[] {
  if (format !== apolloFormat || version !== 1) throw manifestError(`must have the format ${apolloFormat} in version 1`)
  if (!Array.isArray(operations)) throw manifestError('must have a list of operations')
  const documents = operations.map((operation: unknown) => {
    const { id, name, body } = isObject(operation) ? operation : {}
    return { id, name: typeof name === 'string' ? name : null, text: body }
  })
  const duplicates = documents.filter(({ id }, index) => documents.findIndex((each) => each.id === id) < index)
  if (duplicates.length === 0) return documents
  throw invalidInput(duplicates.map(({ id }) => ({ ...invalidParameter(String(id)), message: 'must be given once' })))
}

function documentErrors({ id, text }: UncheckedDocument): FieldError[] {
  const hasValidId = typeof id === 'string' && idPattern.test(id)
  const label = hasValidId ? id : `the id ${JSON.stringify(id ?? null).slice(0, 100)}`
  return [
    ...(hasValidId
      ? []
      : [{ ...invalidParameter(label), message: 'must be 1 to 200 characters of ASCII without spaces' }]),
    ...(typeof text === 'string' ? [] : [{ ...invalidParameter(label), message: 'must have the text of a document' }]),
  ]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function manifestError(message: string): DomainError {
  return invalidInput([{ ...invalidParameter('manifest'), message }])
}

function invalidParameter(field: string): Pick<FieldError, 'field' | 'code'> {
  return { field, code: 'INVALID_PARAMETER' }
}
