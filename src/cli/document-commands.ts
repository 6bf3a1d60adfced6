import { readFile } from 'node:fs/promises'
import { faultsOfDocument } from '../graphql/documents/validate-document.ts'
import { addDocuments } from '../modules/trusted-documents/add-documents.ts'
import { listDocuments } from '../modules/trusted-documents/list-documents.ts'
import { removeDocument } from '../modules/trusted-documents/remove-document.ts'
import { schemaFor } from '../server/graphql/schema.ts'
import type { Command } from './command.ts'
import { toFirstWord, word } from './command.ts'

/** What an operator does about the GraphQL documents that are trusted. */
export const documentCommands: Readonly<Record<string, Command>> = {
  'documents add': {
    changes: toFirstWord,
    summary:
      'Trust the GraphQL documents of a manifest. Reads those of relay-compiler, graphql-codegen and Apollo. Adds all documents or none; each must be valid and within the limits.',
    words: ['manifest'],
    run: async (service, words) => {
      const manifest = await readFile(word(words, 0), 'utf8')
      const schema = schemaFor(service.mode)
      return addDocuments(service, { manifest, faultsIn: (text) => faultsOfDocument(schema, text) })
    },
  },
  'documents list': {
    changes: 'nothing',
    summary: 'List the trusted GraphQL documents.',
    columns: { id: { priority: 2 }, name: { priority: 1 } },
    run: async (service) =>
      (await listDocuments(service)).map(({ id, name, text, addedAt }) => ({
        id,
        name,
        characters: text.length,
        addedAt,
      })),
  },
  'documents remove': {
    changes: toFirstWord,
    summary: 'Stop trusting a GraphQL document. Its id stays bound to its text.',
    words: ['id'],
    run: (service, words) => removeDocument(service, { id: word(words, 0) }),
  },
}
