import type { GraphQLSchema } from 'graphql'
import { createPlanCache, planAhead } from '../plan/plan-cache.ts'
import type { PreparedDocument, RequestErrors } from './prepare-document.ts'
import { prepareDocument } from './prepare-document.ts'

/** Documents that are known by an id, and by their text, for as long as they are not taken away. */
export type TrustedDocumentCache = {
  readonly byId: (id: string) => PinnedDocument | undefined
  readonly byText: (text: string) => PinnedDocument | undefined
  readonly pin: (id: string, text: string) => void
  readonly unpin: (id: string) => void
}

/** A document with its text: prepared when it is first asked for; `planAhead` makes its plans. */
type PinnedDocument = {
  readonly text: string
  readonly document: () => PreparedDocument | RequestErrors
  readonly planAhead: () => void
}

/** Members of all their plans (`plans.ts`): those of 1,000,000 characters come to less, unless fragments are spread over and over. */
const maxPinnedMembers = 200_000

/** Keeps documents apart from those that are remembered, so that whatever else is asked pushes none of them out. */
export function createTrustedDocumentCache(schema: GraphQLSchema): TrustedDocumentCache {
  const byId = new Map<string, PinnedDocument>()
  // Tools of two kinds may call the same text by two ids.
  const byText = new Map<string, { readonly pinned: PinnedDocument; readonly ids: Set<string> }>()
  // How many of the texts are so long: to find a text takes as long as it is, which most others need not.
  const lengths = new Map<number, number>()
  const plans = createPlanCache(maxPinnedMembers)

  function pinText(text: string): PinnedDocument {
    let prepared: PreparedDocument | RequestErrors | null = null
    const document = () => {
      prepared ??= markTrusted(prepareDocument(schema, text, plans))
      return prepared
    }
    const planDocument = () => {
      const known = document()
      if ('errors' in known) return
      for (const { node, planFor } of known.operations) planAhead(node, planFor, known.fragments)
    }
    return { text, document, planAhead: planDocument }
  }

  function adjustLengthCount(length: number, change: 1 | -1): void {
    const left = (lengths.get(length) ?? 0) + change
    if (left > 0) lengths.set(length, left)
    else lengths.delete(length)
  }

  return {
    byId: (id) => byId.get(id),
    byText: (text) => (lengths.has(text.length) ? byText.get(text)?.pinned : undefined),
    pin: (id, text) => {
      const known = byText.get(text) ?? { pinned: pinText(text), ids: new Set() }
      if (!byText.has(text)) adjustLengthCount(text.length, 1)
      byText.set(text, known)
      known.ids.add(id)
      byId.set(id, known.pinned)
    },
    unpin: (id) => {
      const text = byId.get(id)?.text
      if (text === undefined) return
      byId.delete(id)
      const known = byText.get(text)
      known?.ids.delete(id)
      if (known?.ids.size !== 0) return
      byText.delete(text)
      adjustLengthCount(text.length, -1)
    },
  }
}

function markTrusted(document: PreparedDocument | RequestErrors): PreparedDocument | RequestErrors {
  return 'errors' in document ? document : { ...document, isTrusted: true }
}
