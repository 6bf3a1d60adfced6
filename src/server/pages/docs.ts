import type { FastifyInstance } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { rejectOtherMethods } from '../http/method-not-allowed.ts'
import { docsPage, docsPolicy } from './docs-page.ts'
import type { DocsOptions } from './docs-script.ts'
import { sendWithEtag } from './page-response.ts'
import type { Precompressed } from './precompressed.ts'
import { buildInThread, memoizeBuild, sendPrecompressed } from './precompressed.ts'

/**
 * Adds the reference of the endpoints: `/openapi.json` for programs, `/docs` for people.
 *
 * All of it is public and needs no key. What is large is built when it is first requested.
 */
export function addDocs(app: FastifyInstance, groups: readonly RouteGroup[], options: DocsOptions): void {
  const openapi = memoizeBuild(() => openapiJson(groups, options.mode))
  app.get('/openapi.json', async (request, reply) =>
    // A shared cache must not give the response for one origin to a page of another.
    sendWithEtag(await openapi(), request, reply.header('vary', 'origin').type('application/json; charset=utf-8')),
  )
  app.get('/docs', async (request, reply) => {
    reply.type('text/html; charset=utf-8').header('content-security-policy', docsPolicy)
    return sendWithEtag(docsPage(options.mode), request, reply)
  })
  const script = memoizeBuild(() => buildInThread<Precompressed>(new URL('./docs-script.ts', import.meta.url), options))
  app.get('/docs/scalar.js', async (request, reply) => {
    reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'public, no-cache')
      .header('vary', 'accept-encoding')
    return sendPrecompressed(await script(), request, reply)
  })
  for (const path of ['/openapi.json', '/docs', '/docs/scalar.js']) rejectOtherMethods(app, path, ['GET'])
}

async function openapiJson(groups: readonly RouteGroup[], mode: Mode): Promise<string> {
  // Imported at the first request, so that a start does not wait for it.
  const { openapiDocument } = await import('./openapi.ts')
  return JSON.stringify(openapiDocument(groups, mode))
}
