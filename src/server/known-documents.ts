import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Service } from '../context.ts'
import type { Engine } from '../graphql/engine.ts'
import type { FindDocument } from '../graphql/named-documents.ts'
import { findDocuments } from '../graphql/named-documents.ts'
import { pinDocuments } from '../graphql/pinned-documents.ts'
import { followDocuments } from '../trusted-documents/follow-documents.ts'
import type { TrustedDocument } from '../trusted-documents/trusted-document.ts'

/** What GraphQL requests may run: any document, or those that the installation trusts. */
export type DocumentsTaken = 'any' | 'trusted'

/**
 * Finds the documents of requests, with those that are trusted prepared and planned before the first request.
 *
 * In the sandbox a look at the schema goes on whatever is trusted, so that GraphiQL can explain it.
 */
export function knownDocuments(
  app: FastifyInstance,
  {
    service,
    schema,
    documents,
    isPlanned,
  }: {
    service: Service
    schema: Engine['schema']
    documents: DocumentsTaken
    isPlanned: boolean
  },
): FindDocument {
  const pinned = pinDocuments(schema, { isPlanned })
  const isRestricted = documents === 'trusted'
  const take = (changed: readonly TrustedDocument[]) => {
    for (const { id, text, removedAt } of changed) {
      if (removedAt !== null) pinned.unpin(id)
      else warnOfFaults(app.log, id, pinned.pin(id, text))
    }
  }
  const followed = followDocuments(service, { isWaitedFor: isRestricted, take })
  app.addHook('onReady', () =>
    // Where the database can't be read yet, whoever asks for a document has it read.
    followed.begin().catch((error) => app.log.warn({ err: error }, 'the trusted documents could not be read')),
  )
  app.addHook('onClose', async () => followed.end())
  return findDocuments(schema, {
    taken: isRestricted && service.mode === 'sandbox' ? 'trustedButSchema' : documents,
    trusted: { byId: pinned.byId, byText: pinned.byText, keepUp: followed.keepUp, lookAgain: followed.lookAgain },
  })
}

/** A later version of the service may have another schema than that by which a document was added. */
function warnOfFaults(
  log: FastifyBaseLogger,
  id: string,
  document: ReturnType<ReturnType<typeof pinDocuments>['pin']>,
): void {
  if (!('errors' in document)) return
  const faults = document.errors.map(({ message }) => message)
  log.warn({ document_id: id, faults }, 'a trusted document can not be run by this schema')
}
