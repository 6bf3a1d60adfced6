import { parentPort, workerData } from 'node:worker_threads'
import type { ApiReferenceConfiguration } from '@scalar/fastify-api-reference'
import scalar from '@scalar/fastify-api-reference'
import { fastify } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import { precompress } from './precompressed.ts'

export type DocsOptions = { readonly mode: Mode; readonly demoKey: string | null }

// A worker thread builds the script, because the package keeps five megabytes in memory until the thread ends.
if (parentPort) {
  const options = workerData as DocsOptions
  parentPort.postMessage(await precompress(docsScript(await scalarScript(), options)))
}

async function scalarScript(): Promise<string> {
  const app = fastify()
  app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, body } = await app.inject('/docs/js/scalar.js')
  if (statusCode !== 200) throw new Error(`Scalar served no script: status ${statusCode}`)
  return body
}

function docsScript(bundle: string, options: DocsOptions): string {
  return `// The page's policy forbids the parsers of the bundle to compile code.
globalThis.__zod_globalConfig = { jitless: true };
${bundle}
Scalar.createApiReference('#reference', {
  // Links to headings: /docs#sandbox
  generateHeadingSlug: ({ slug }) => 'rest/' + slug,
  ...${JSON.stringify(configuration(options))},
})
`
}

function configuration({ mode, demoKey }: DocsOptions): Partial<ApiReferenceConfiguration> {
  return {
    url: '/openapi.json',
    slug: 'rest',
    hideTestRequestButton: mode === 'live',
    hideClientButton: true,
    showDeveloperTools: 'never',
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    withDefaultFonts: false,
    ...(demoKey !== null && {
      authentication: { preferredSecurityScheme: 'apiKey', securitySchemes: { apiKey: { value: demoKey } } },
    }),
  }
}
