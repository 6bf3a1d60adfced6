import { notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { Service } from '../../operations/context.ts'
import { documentById, latestRevision, updateDocument } from './repository.ts'

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
