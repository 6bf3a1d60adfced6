import { readFile } from 'node:fs/promises'
import { invalidInput } from '../core/errors.ts'
import { documentErrors } from '../graphql/documents/prepare-document.ts'
import {
  addDocuments,
  findBrokenDocuments,
  listDocuments,
  removeDocument,
} from '../modules/trusted-documents/manage-documents.ts'
import { parseSchema, schemaFor } from '../server/graphql/schema.ts'
import type { CommandTable } from './command.ts'
import { subjectFromFirstWord, wordAt } from './command.ts'

export const documentCommands: CommandTable = {
  'documents add': {
    changes: subjectFromFirstWord,
    summary:
      'Trust the GraphQL documents of a manifest. Reads those of relay-compiler, graphql-codegen and Apollo. Adds all documents or none; each must be valid and within the limits.',
    words: ['manifest'],
    run: async (service, words) => {
      const manifest = await readFile(wordAt(words, 0), 'utf8')
      const schema = schemaFor(service.mode)
      return addDocuments(service, { manifest, validate: (text) => documentErrors(schema, text) })
    },
  },
  'documents check': {
    changes: 'nothing',
    summary:
      'Check the trusted GraphQL documents against a schema. Lists each error of a document that the schema would break. The default is the schema of this version.',
    options: { schema: ['file', 'check against this schema, such as schema.graphql of a later version'] },
    columns: { id: { priority: 2 }, name: { priority: 1 }, error: { priority: 3, isWrapped: true } },
    run: async (service, _, { schema: file }) => {
      const schema = file === undefined ? schemaFor(service.mode) : await readSchema(file)
      return findBrokenDocuments(service, { validate: (text) => documentErrors(schema, text) })
    },
    hasFailed: (result) => (result as readonly unknown[]).length > 0,
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
    summary: 'Stop trusting a GraphQL document. No other document can get its id.',
    words: ['id'],
    run: (service, words) => removeDocument(service, { id: wordAt(words, 0) }),
  },
}

async function readSchema(file: string): Promise<ReturnType<typeof parseSchema>> {
  const text = await readFile(file, 'utf8')
  try {
    return parseSchema(text)
  } catch (error) {
    const message = `must be a file with a GraphQL schema: ${(error as Error).message.replace(/\.$/, '')}`
    throw invalidInput([{ field: '--schema', code: 'INVALID_FORMAT', message }])
  }
}
