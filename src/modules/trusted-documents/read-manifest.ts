import type { FieldFault } from '../../core/errors.ts'
import { invalidInput, Refusal } from '../../core/errors.ts'
import { readJson } from '../../core/net/json-text.ts'

/** A document as a manifest has it. */
export type ManifestDocument = { readonly id: string; readonly name: string | null; readonly text: string }

/** What an id may be: it stands in URLs. */
const idForm = /^[\x21-\x7e]{1,200}$/

const apolloFormat = 'apollo-persisted-query-manifest'

/**
 * The documents of a manifest: an object of texts by id, as relay-compiler and the client preset of graphql-codegen write them, or
 * Apollo's list of operations.
 *
 * @throws Refusal MALFORMED_JSON, INVALID_INPUT with a fault for each document that is none
 */
export function readManifest(content: string): readonly ManifestDocument[] {
  const manifest = jsonOf(content)
  if (!isObject(manifest)) throw refused('must be a JSON object')
  const documents = 'format' in manifest ? apolloDocuments(manifest) : Object.entries(manifest).map(toDocument)
  if (documents.length === 0) throw refused('has no documents')
  const faults = documents.flatMap(faultsOf)
  if (faults.length > 0) throw invalidInput(faults)
  return documents as readonly ManifestDocument[]
}

function jsonOf(content: string): unknown {
  let read: ReturnType<typeof readJson>
  try {
    // Some tools begin a file so.
    read = readJson(content.replace(/^\uFEFF/, ''))
  } catch {
    throw new Refusal('MALFORMED_JSON', 'The manifest is not valid JSON.')
  }
  if (read.repeated !== null) throw invalidInput([{ ...fault(read.repeated), message: 'must be given once' }])
  return read.value
}

type Unread = { readonly id: unknown; readonly name: string | null; readonly text: unknown }

function toDocument([id, text]: [string, unknown]): Unread {
  return { id, name: null, text }
}

function apolloDocuments({ format, version, operations }: Record<string, unknown>): readonly Unread[] {
  if (format !== apolloFormat || version !== 1) throw refused(`must have the format ${apolloFormat} in version 1`)
  if (!Array.isArray(operations)) throw refused('must have a list of operations')
  const documents = operations.map((operation: unknown) => {
    const { id, name, body } = isObject(operation) ? operation : {}
    return { id, name: typeof name === 'string' ? name : null, text: body }
  })
  const twice = documents.filter(({ id }, place) => documents.findIndex((each) => each.id === id) < place)
  if (twice.length === 0) return documents
  throw invalidInput(twice.map(({ id }) => ({ ...fault(String(id)), message: 'must be given once' })))
}

function faultsOf({ id, text }: Unread): FieldFault[] {
  const isNamed = typeof id === 'string' && idForm.test(id)
  const called = isNamed ? id : `the id ${JSON.stringify(id ?? null).slice(0, 100)}`
  return [
    ...(isNamed ? [] : [{ ...fault(called), message: 'must be 1 to 200 characters of ASCII without spaces' }]),
    ...(typeof text === 'string' ? [] : [{ ...fault(called), message: 'must have the text of a document' }]),
  ]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refused(message: string): Refusal {
  return invalidInput([{ ...fault('manifest'), message }])
}

function fault(field: string): Pick<FieldFault, 'field' | 'code'> {
  return { field, code: 'INVALID_PARAMETER' }
}
