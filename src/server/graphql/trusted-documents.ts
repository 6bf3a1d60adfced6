import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { createDocumentResolver } from '../../graphql/documents/resolve-document.ts'
import { createTrustedDocumentCache } from '../../graphql/documents/trusted-document-cache.ts'
import type { Engine } from '../../graphql/execution/engine.ts'
import { createEngine } from '../../graphql/execution/engine.ts'
import { warmUpDocument } from '../../graphql/execution/warm-up.ts'
import type { TrustedDocument } from '../../modules/trusted-documents/trusted-document.ts'
import { watchTrustedDocuments } from '../../modules/trusted-documents/watch-documents.ts'
import type { Service } from '../../operations/context.ts'
import { schemaFor } from './schema.ts'

/** How long a start waits at most until trusted documents are ready: the host takes a start for failed that waits for longer than 10 s. */
const maxStartDelayMs = 5_000

/** What GraphQL requests may run: any document, or those that the installation trusts. */
export type AllowedDocuments = 'any' | 'trusted'

/** What an engine with trusted documents takes; `isPlanned` is so but in tests. */
type TrustedEngineOptions = {
  readonly service: Service
  readonly documents: AllowedDocuments
  readonly isPlanned: boolean
}

/**
 * The engine of the endpoint. The documents that are trusted are prepared, planned and rehearsed before the first request, so that
 * it costs no more than the others.
 *
 * In the sandbox a look at the schema goes on whatever is trusted, so that GraphiQL can explain it.
 */
export function createTrustedEngine(
  app: FastifyInstance,
  { service, documents, isPlanned }: TrustedEngineOptions,
): Engine {
  const schema = schemaFor(service.mode)
  const pinned = createTrustedDocumentCache(schema)
  const isRestricted = documents === 'trusted'
  const applyChanges = async (changed: readonly TrustedDocument[]) => {
    for (const { id, text, removedAt } of changed) {
      if (removedAt === null) pinned.pin(id, text)
      else pinned.unpin(id)
    }
    for (const { id } of changed) {
      // One a turn: requests go on meanwhile.
      await nextTurn()
      await warmUpById(id).catch((error) =>
        app.log.warn({ err: error, document_id: id }, 'a trusted document is not ready'),
      )
    }
  }
  const warmUpById = async (id: string) => {
    const document = pinned.byId(id)?.document()
    if (document && 'errors' in document) {
      // A later version of the service may have another schema than that by which the document was added.
      const faults = document.errors.map(({ message }) => message)
      app.log.warn({ document_id: id, faults }, 'a trusted document can not be run by this schema')
    } else if (document && isPlanned) {
      pinned.byId(id)?.planAhead()
      await warmUpDocument(engine, service, document)
    }
  }
  const followed = watchTrustedDocuments(service, { isWaitedFor: isRestricted, apply: applyChanges })
  const find = createDocumentResolver(schema, {
    taken: isRestricted && service.mode === 'sandbox' ? 'trustedButSchema' : documents,
    trusted: {
      byId: pinned.byId,
      byText: pinned.byText,
      refreshIfChanged: followed.refreshIfChanged,
      refresh: followed.refreshAfterMiss,
    },
  })
  const engine = createEngine(schema, { isPlanned, find })
  app.addHook('onReady', () => {
    // Where the database can't be read yet, whoever asks for a document has it read.
    const begun = followed
      .start()
      .catch((error) => app.log.warn({ err: error }, 'the trusted documents could not be read'))
    // What takes longer goes on while requests are answered.
    return Promise.race([begun, new Promise<void>((resolve) => setTimeout(resolve, maxStartDelayMs).unref())])
  })
  app.addHook('onClose', async () => followed.stop())
  return engine
}
