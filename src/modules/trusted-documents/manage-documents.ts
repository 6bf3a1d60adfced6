import type { FieldError } from '../../core/errors.ts'
import { invalidInput, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { Tx } from '../../database/query.ts'
import type { Service } from '../../operations/context.ts'
import type { ManifestDocument } from './parse-manifest.ts'
import { parseManifest } from './parse-manifest.ts'
import { allTrustedDocuments, documentById, insertDocument, latestRevision, updateDocument } from './repository.ts'
import type { DocumentValidator, TrustedDocument } from './trusted-document.ts'
import { maxTrustedCharacters } from './trusted-document.ts'

export type AddedDocuments = { readonly added: number; readonly known: number }

/**
 * Adds either all documents of a manifest or none. A manifest can make removed documents trusted again. An id cannot be
 * used for a different text, because deployed clients send the id instead of the text.
 *
 * @param manifest the content of the manifest (see `parse-manifest.ts`)
 * @param validate returns the errors of a text according to the schema and the limits
 * @throws DomainError MALFORMED_JSON, INVALID_INPUT with every error of every document
 */
export async function addDocuments(
  { db, now }: Service,
  { manifest, validate }: { manifest: string; validate: DocumentValidator },
): Promise<AddedDocuments> {
  const documents = parseManifest(manifest)
  const errors = documents.flatMap((each) => validate(each.text).map((error) => documentError(each, error)))
  if (errors.length > 0) throw invalidInput(errors)
  const addedAt = timestamp(now())
  return db.write(async (tx) => {
    const changes = await planChanges(tx, documents)
    let revision = (await latestRevision(tx, {}))?.revision ?? 0
    for (const { document, existing } of changes) {
      const { id, name } = document
      const row = { ...document, revision: ++revision, addedAt, removedAt: null }
      if (existing) await updateDocument(tx, { id, revision, name, addedAt, removedAt: null })
      else await insertDocument(tx, row)
    }
    return { added: changes.length, known: documents.length - changes.length }
  })
}

type DocumentChange = { readonly document: ManifestDocument; readonly existing: TrustedDocument | null }

async function planChanges(tx: Tx, documents: readonly ManifestDocument[]): Promise<readonly DocumentChange[]> {
  const changes: DocumentChange[] = []
  const errors: FieldError[] = []
  for (const document of documents) {
    const existing = await documentById(tx, { id: document.id })
    if (existing && existing.text !== document.text)
      errors.push(documentError(document, 'is already used as the id of another text'))
    else if (!existing || existing.removedAt !== null) changes.push({ document, existing })
  }
  if (errors.length > 0) throw invalidInput(errors)
  const trusted = await allTrustedDocuments(tx, {})
  const texts = [...trusted, ...changes.map(({ document }) => document)]
  const characters = texts.reduce((sum, { text }) => sum + text.length, 0)
  if (characters <= maxTrustedCharacters) return changes
  const message = `is too large: all trusted documents together may have ${maxTrustedCharacters} characters, and would have ${characters}`
  throw invalidInput([{ field: 'manifest', code: 'INVALID_PARAMETER', message }])
}

function documentError({ id, name }: ManifestDocument, message: string): FieldError {
  return { field: name === null ? id : `${name} (${id})`, code: 'INVALID_PARAMETER', message }
}

/**
 * The id of a removed document cannot be used for a different text.
 *
 * @throws DomainError RESOURCE_NOT_FOUND if the document is not trusted
 */
export async function removeDocument({ db, now }: Service, { id }: { id: string }): Promise<{ removed: string }> {
  const removedAt = timestamp(now())
  return db.write(async (tx) => {
    const document = await documentById(tx, { id })
    if (!document || document.removedAt !== null) throw notFound('Trusted document')
    const revision = ((await latestRevision(tx, {}))?.revision ?? 0) + 1
    await updateDocument(tx, { ...document, revision, removedAt })
    return { removed: id }
  })
}

export type BrokenDocument = { readonly id: string; readonly name: string | null; readonly error: string }

export async function findBrokenDocuments(
  { db }: Service,
  { validate }: { validate: DocumentValidator },
): Promise<readonly BrokenDocument[]> {
  const documents = await allTrustedDocuments(db, {})
  return documents.flatMap(({ id, name, text }) => validate(text).map((error) => ({ id, name, error })))
}

export async function listDocuments({ db }: Service): Promise<readonly TrustedDocument[]> {
  return allTrustedDocuments(db, {})
}
