import type { GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import { keepPlans } from '../plan/plans.ts'
import type { Document, Faulty } from './prepare-document.ts'
import { prepare } from './prepare-document.ts'

/** Documents that are remembered, and their characters: one of these takes about a hundred bytes, beside plans (`plans.ts`). */
const documentsKept = 1_000
const charactersKept = 500_000

/** Parses and checks documents, each once for as long as it is remembered; one that is faulty every time. */
export function rememberDocuments(schema: GraphQLSchema): (query: string) => Document | Faulty {
  const documents = new LRUCache<string, Document>({
    max: documentsKept,
    maxSize: charactersKept,
    sizeCalculation: (_document, query) => query.length,
  })
  const plans = keepPlans()
  /** The one that was used last: to compare it takes a tenth of the time in which a long one is looked up. */
  let latest: { readonly query: string; readonly document: Document } | null = null

  return (query) => {
    if (latest !== null && query === latest.query) return latest.document
    const known = documents.get(query)
    const document = known ?? prepare(schema, query, plans)
    // A refusal is made again as quickly, and would take the place of a document that is of use.
    if ('errors' in document) return document
    if (known === undefined) documents.set(query, document)
    latest = { query, document }
    return document
  }
}
