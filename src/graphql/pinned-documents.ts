import type { GraphQLSchema } from 'graphql'
import { keepPlans, planAhead } from './plan/plans.ts'
import type { Document, Faulty } from './prepare-document.ts'
import { prepare } from './prepare-document.ts'

/** Documents that are known by an id, and by their text, for as long as they are not taken away. */
export type PinnedDocuments = {
  readonly byId: (id: string) => Pinned | undefined
  readonly byText: (text: string) => Document | Faulty | undefined
  /** Prepares and plans a document; one that is faulty is known as that. */
  readonly pin: (id: string, text: string) => Document | Faulty
  readonly unpin: (id: string) => void
}

/** A document with its text. */
export type Pinned = { readonly text: string; readonly document: Document | Faulty }

/** Members of all their plans (`plans.ts`): those of 1,000,000 characters come to less, unless fragments are spread over and over. */
const membersPinned = 200_000

/** Keeps documents apart from those that are remembered, so that whatever else is asked pushes none of them out. */
export function pinDocuments(schema: GraphQLSchema, { isPlanned }: { isPlanned: boolean }): PinnedDocuments {
  const byId = new Map<string, Pinned>()
  // Tools of two kinds may call the same text by two ids.
  const byText = new Map<string, Pinned & { readonly ids: Set<string> }>()
  // How many of the texts are so long: to find a text takes as long as it is, which most others need not.
  const lengths = new Map<number, number>()
  const plans = keepPlans(membersPinned)

  function pinText(text: string): Pinned & { readonly ids: Set<string> } {
    const document = prepare(schema, text, plans)
    if (isPlanned && !('errors' in document)) {
      for (const { node, planFor } of document.operations) planAhead(node, planFor, document.fragments)
    }
    return { text, document, ids: new Set() }
  }

  return {
    byId: (id) => byId.get(id),
    byText: (text) => (lengths.has(text.length) ? byText.get(text)?.document : undefined),
    pin: (id, text) => {
      const pinned = byText.get(text) ?? pinText(text)
      pinned.ids.add(id)
      if (!byText.has(text)) lengths.set(text.length, (lengths.get(text.length) ?? 0) + 1)
      byText.set(text, pinned)
      byId.set(id, pinned)
      return pinned.document
    },
    unpin: (id) => {
      const text = byId.get(id)?.text
      if (text === undefined) return
      byId.delete(id)
      const pinned = byText.get(text)
      pinned?.ids.delete(id)
      if (pinned?.ids.size !== 0) return
      byText.delete(text)
      const left = (lengths.get(text.length) ?? 0) - 1
      if (left > 0) lengths.set(text.length, left)
      else lengths.delete(text.length)
    },
  }
}
