import type { Service } from '../../operations/context.ts'
import { allTrustedDocuments } from './repository.ts'
import type { TrustedDocument } from './trusted-document.ts'

/** The documents that are trusted now, by id. */
export async function listDocuments({ db }: Service): Promise<readonly TrustedDocument[]> {
  return allTrustedDocuments(db, {})
}
