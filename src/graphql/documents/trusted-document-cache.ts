import type { GraphQLSchema } from 'graphql'
import { keepPlans, planAhead } from '../plan/plans.ts'
import type { Document, Faulty } from './prepare-document.ts'
import { prepare } from './prepare-document.ts'

/** Documents that are known by an id, and by their text, for as long as they are not taken away. */
export type PinnedDocuments = {
  readonly byId: (id: string) => Pinned | undefined
  readonly byText: (text: string) => Pinned | undefined
  readonly pin: (id: string, text: string) => void
  readonly unpin: (id: string) => void
}

/** A document with its text: prepared when it is first asked for; `planAhead` makes its plans. */
type Pinned = {
  readonly text: string
  readonly document: () => Document | Faulty
  readonly planAhead: () => void
}

/** Members of all their plans (`plans.ts`): those of 1,000,000 characters come to less, unless fragments are spread over and over. */
const membersPinned = 200_000

/** Keeps documents apart from those that are remembered, so that whatever else is asked pushes none of them out. */
export function pinDocuments(schema: GraphQLSchema): PinnedDocuments {
  const byId = new Map<string, Pinned>()
  // Tools of two kinds may call the same text by two ids.
  const byText = new Map<string, { readonly pinned: Pinned; readonly ids: Set<string> }>()
  // How many of the texts are so long: to find a text takes as long as it is, which most others need not.
  const lengths = new Map<number, number>()
  const plans = keepPlans(membersPinned)

  function pinText(text: string): Pinned {
    let prepared: Document | Faulty | null = null
    const document = () => {
      prepared ??= trusted(prepare(schema, text, plans))
      return prepared
    }
    const plan = () => {
      const known = document()
      if ('errors' in known) return
      for (const { node, planFor } of known.operations) planAhead(node, planFor, known.fragments)
    }
    return { text, document, planAhead: plan }
  }

  function count(length: number, change: 1 | -1): void {
    const left = (lengths.get(length) ?? 0) + change
    if (left > 0) lengths.set(length, left)
    else lengths.delete(length)
  }

  return {
    byId: (id) => byId.get(id),
    byText: (text) => (lengths.has(text.length) ? byText.get(text)?.pinned : undefined),
    pin: (id, text) => {
      const known = byText.get(text) ?? { pinned: pinText(text), ids: new Set() }
      if (!byText.has(text)) count(text.length, 1)
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
      count(text.length, -1)
    },
  }
}

function trusted(document: Document | Faulty): Document | Faulty {
  return 'errors' in document ? document : { ...document, isTrusted: true }
}
