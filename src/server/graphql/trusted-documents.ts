import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { createTrustedDocumentCache } from '../../graphql/documents/document-caches.ts'
import { createDocumentResolver } from '../../graphql/documents/resolve-document.ts'
import type { Engine, Executor } from '../../graphql/execution/engine.ts'
import { createEngine } from '../../graphql/execution/engine.ts'
import { warmUpDocument } from '../../graphql/execution/warm-up.ts'
import type { TrustedDocument } from '../../modules/trusted-documents/trusted-document.ts'
import { watchTrustedDocuments } from '../../modules/trusted-documents/watch-documents.ts'
import type { Service } from '../../operations/context.ts'
import { schemaFor } from './schema.ts'

/** Fastify aborts a start that takes longer than 10 s. */
const maxStartDelayMs = 5_000

export type AllowedDocuments = 'any' | 'trusted'

type TrustedEngineOptions = {
  readonly service: Service
  readonly documents: AllowedDocuments
  readonly executor: Executor
}

/**
 * Prepares, plans and warms up trusted documents before the first request. Introspection is always allowed in the
 * sandbox, because GraphiQL needs the schema.
 */
export function createTrustedEngine(
  app: FastifyInstance,
  { service, documents, executor }: TrustedEngineOptions,
): Engine {
  const schema = schemaFor(service.mode)
  const trusted = createTrustedDocumentCache(schema)
  const isRestricted = documents === 'trusted'
  const applyChanges = async (changed: readonly TrustedDocument[]) => {
    for (const { id, text, removedAt } of changed) {
      if (removedAt === null) trusted.add(id, text)
      else trusted.remove(id)
    }
    for (const { id } of changed) {
      // Warms up one document per event-loop iteration, so that requests are not delayed.
      await nextTurn()
      await warmUpById(id).catch((error) =>
        app.log.warn({ err: error, document_id: id }, 'trusted document warm-up failed'),
      )
    }
  }
  const warmUpById = async (id: string) => {
    const document = trusted.byId(id)?.document()
    if (document && 'errors' in document) {
      // The GraphQL schema may have changed after the document was added.
      const faults = document.errors.map(({ message }) => message)
      app.log.warn({ document_id: id, faults }, 'trusted document is invalid for the current schema')
    } else if (document && executor === 'planned') {
      trusted.byId(id)?.planAhead()
      await warmUpDocument(engine, service, document)
    }
  }
  const watcher = watchTrustedDocuments(service, { isWaitedFor: isRestricted, apply: applyChanges })
  const find = createDocumentResolver(schema, {
    policy: isRestricted && service.mode === 'sandbox' ? 'trustedOrIntrospection' : documents,
    trusted: {
      byId: trusted.byId,
      byText: trusted.byText,
      refreshIfChanged: watcher.refreshIfChanged,
      refresh: watcher.refreshAfterMiss,
    },
  })
  const engine = createEngine(schema, { executor, find })
  app.addHook('onReady', () => {
    // If the database is unavailable at the start, the service reads the trusted documents at a later request.
    const starting = watcher
      .start()
      .catch((error) => app.log.warn({ err: error }, 'trusted documents could not be read'))
    return Promise.race([starting, new Promise<void>((resolve) => setTimeout(resolve, maxStartDelayMs).unref())])
  })
  app.addHook('onClose', async () => watcher.stop())
  return engine
}
