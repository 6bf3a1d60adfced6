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

/** How many documents were added, and how many were trusted already. */
export type AddedDocuments = { readonly added: number; readonly known: number }

/**
 * Trusts every document of a manifest, or none.
 *
 * One that is trusted already stays as it is, and one that was removed is trusted again. The same id with another text is
 * refused, also where the document was removed: clients that are out there mean the text that they were built with.
 *
 * @param manifest its content as text; `read-manifest.ts` says what it may be
 * @param faultsIn what is wrong with a text against the schema and the limits
 * @throws Refusal MALFORMED_JSON, INVALID_INPUT with every fault of every document
 */
export async function addDocuments(
  { db, now }: Service,
  { manifest, faultsIn }: { manifest: string; faultsIn: DocumentValidator },
): Promise<AddedDocuments> {
  const documents = parseManifest(manifest)
  const faults = documents.flatMap((each) => faultsIn(each.text).map((fault) => documentError(each, fault)))
  if (faults.length > 0) throw invalidInput(faults)
  const addedAt = timestamp(now())
  return db.write(async (tx) => {
    const changes = await planChanges(tx, documents)
    let revision = (await latestRevision(tx, {}))?.revision ?? 0
    for (const { document, existing: earlier } of changes) {
      const { id, name } = document
      const row = { ...document, revision: ++revision, addedAt, removedAt: null }
      if (earlier) await updateDocument(tx, { id, revision, name, addedAt, removedAt: null })
      else await insertDocument(tx, row)
    }
    return { added: changes.length, known: documents.length - changes.length }
  })
}

type DocumentChange = { readonly document: ManifestDocument; readonly existing: TrustedDocument | null }

/** Those of the documents that are not trusted yet. */
async function planChanges(tx: Tx, documents: readonly ManifestDocument[]): Promise<readonly DocumentChange[]> {
  const changes: DocumentChange[] = []
  const faults: FieldError[] = []
  for (const document of documents) {
    const earlier = await documentById(tx, { id: document.id })
    if (earlier && earlier.text !== document.text)
      faults.push(documentError(document, 'is the id of another text already'))
    else if (!earlier || earlier.removedAt !== null) changes.push({ document, existing: earlier })
  }
  if (faults.length > 0) throw invalidInput(faults)
  const trusted = await allTrustedDocuments(tx, {})
  const texts = [...trusted, ...changes.map(({ document }) => document)]
  const characters = texts.reduce((sum, { text }) => sum + text.length, 0)
  if (characters <= maxTrustedCharacters) return changes
  const message = `has too much: all documents together may have ${maxTrustedCharacters} characters, and would have ${characters}`
  throw invalidInput([{ field: 'manifest', code: 'INVALID_PARAMETER', message }])
}

function documentError({ id, name }: ManifestDocument, message: string): FieldError {
  return { field: name === null ? id : `${name} (${id})`, code: 'INVALID_PARAMETER', message }
}

/**
 * Trusts a document no more. Its id stays with its text.
 *
 * @throws Refusal RESOURCE_NOT_FOUND where no such document is trusted
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

/** The documents that are trusted now, by id. */
export async function listDocuments({ db }: Service): Promise<readonly TrustedDocument[]> {
  return allTrustedDocuments(db, {})
}
