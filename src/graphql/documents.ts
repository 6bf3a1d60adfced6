import type { GraphQLSchema } from 'graphql'
import { keepPlans } from './plan/plans.ts'
import type { Document, Faulty } from './prepare-document.ts'
import { prepare } from './prepare-document.ts'

/** Documents that are remembered, and their characters: one of these takes about a hundred bytes, beside plans (`plans.ts`). */
const documentsKept = 1_000
const charactersKept = 500_000

/** Parses and checks documents, each once for as long as it is remembered; one that is faulty every time. */
export function rememberDocuments(schema: GraphQLSchema): (query: string) => Document | Faulty {
  const documents = new Map<string, Document>()
  const plans = keepPlans()
  let charactersHeld = 0
  /** The one that was used last: to compare it takes a tenth of the time in which a long one is looked up. */
  let latest: { readonly query: string; readonly document: Document } | null = null

  return (query) => {
    if (latest !== null && query === latest.query) return latest.document
    const known = documents.get(query)
    if (known) {
      latest = { query, document: known }
      // The order of a Map is that of insertion, so the first is the one that was not used for longest.
      documents.delete(query)
      documents.set(query, known)
      return known
    }
    const fresh = prepare(schema, query, plans)
    // A refusal is made again as quickly, and would take the place of a document that is of use.
    if ('errors' in fresh) return fresh
    documents.set(query, fresh)
    latest = { query, document: fresh }
    charactersHeld += query.length
    for (const oldest of documents.keys()) {
      if (documents.size <= documentsKept && charactersHeld <= charactersKept) break
      documents.delete(oldest)
      charactersHeld -= oldest.length
    }
    return fresh
  }
}
