import type { GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import { createPlanCache } from '../plan/plan-cache.ts'
import type { PreparedDocument, RequestErrors } from './prepare-document.ts'
import { prepareDocument } from './prepare-document.ts'

/** Documents that are remembered, and their characters: one of these takes about a hundred bytes, beside plans (`plans.ts`). */
const maxCachedDocuments = 1_000
const maxCachedCharacters = 500_000

/** Parses and checks documents, each once for as long as it is remembered; one that is faulty every time. */
export function createDocumentCache(schema: GraphQLSchema): (query: string) => PreparedDocument | RequestErrors {
  const documents = new LRUCache<string, PreparedDocument>({
    max: maxCachedDocuments,
    maxSize: maxCachedCharacters,
    sizeCalculation: (_document, query) => query.length,
  })
  const plans = createPlanCache()
  /** The one that was used last: to compare it takes a tenth of the time in which a long one is looked up. */
  let latest: { readonly query: string; readonly document: PreparedDocument } | null = null

  return (query) => {
    if (latest !== null && query === latest.query) return latest.document
    const known = documents.get(query)
    const document = known ?? prepareDocument(schema, query, plans)
    // A refusal is made again as quickly, and would take the place of a document that is of use.
    if ('errors' in document) return document
    if (known === undefined) documents.set(query, document)
    latest = { query, document }
    return document
  }
}
