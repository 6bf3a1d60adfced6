import { parentPort, workerData } from 'node:worker_threads'
import type { ApiReferenceConfiguration } from '@scalar/fastify-api-reference'
import scalar from '@scalar/fastify-api-reference'
import { fastify } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import { precompress } from './precompressed.ts'

/** `demoKey` is that of the demo merchant, where there is one. */
export type DocsOptions = { readonly mode: Mode; readonly demoKey: string | null }

// Runs in a thread of its own: the package holds five megabytes of source in memory.
if (parentPort) {
  const options = workerData as DocsOptions
  parentPort.postMessage(await precompress(docsScript(await scalarScript(), options)))
}

/** The plugin serves its script only as a route. */
async function scalarScript(): Promise<string> {
  const app = fastify()
  app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, body } = await app.inject('/docs/js/scalar.js')
  if (statusCode !== 200) throw new Error('the script of the reference is missing')
  return body
}

function docsScript(bundle: string, options: DocsOptions): string {
  return `// The parsers of the bundle may not compile code, which the policy of the page forbids.
globalThis.__zod_globalConfig = { jitless: true };
${bundle}
Scalar.createApiReference('#reference', {
  // The address of a heading is its own name: /docs#sandbox.
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
