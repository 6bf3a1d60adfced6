import type { CodegenConfig } from '@graphql-codegen/cli'

const config: CodegenConfig = {
  schema: '../../schema.graphql',
  documents: 'src/**/*.ts*',
  ignoreNoDocuments: true,
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        // Amounts are strings, because numbers would round them. A scalar that is missing here is an error.
        strictScalars: true,
        scalars: {
          ...Object.fromEntries(
            ['ID', 'UUID', 'Amount', 'Decimal', 'Date', 'DateTime'].map((name) => [name, 'string']),
          ),
          JSON: 'unknown',
        },
      },
    },
    'src/gql/possible-types.ts': { plugins: ['fragment-matcher'] },
  },
}

export default config
