import { readFile } from 'node:fs/promises'
import { documentErrors } from '../graphql/documents/prepare-document.ts'
import { addDocuments } from '../modules/trusted-documents/add-documents.ts'
import { listDocuments } from '../modules/trusted-documents/list-documents.ts'
import { removeDocument } from '../modules/trusted-documents/remove-document.ts'
import { schemaFor } from '../server/graphql/schema.ts'
import type { Command } from './command.ts'
import { subjectFromFirstWord, wordAt } from './command.ts'

/** What an operator does about the GraphQL documents that are trusted. */
export const documentCommands: Readonly<Record<string, Command>> = {
  'documents add': {
    changes: subjectFromFirstWord,
    summary:
      'Trust the GraphQL documents of a manifest. Reads those of relay-compiler, graphql-codegen and Apollo. Adds all documents or none; each must be valid and within the limits.',
    words: ['manifest'],
    run: async (service, words) => {
      const manifest = await readFile(wordAt(words, 0), 'utf8')
      const schema = schemaFor(service.mode)
      return addDocuments(service, { manifest, faultsIn: (text) => documentErrors(schema, text) })
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
    changes: subjectFromFirstWord,
    summary: 'Stop trusting a GraphQL document. Its id stays bound to its text.',
    words: ['id'],
    run: (service, words) => removeDocument(service, { id: wordAt(words, 0) }),
  },
}
