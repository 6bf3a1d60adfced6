import type { FastifyInstance } from 'fastify'
import type { Mode } from '../../context.ts'
import type { Group } from '../../rest/route.ts'
import { refuseOtherMethods } from '../other-methods.ts'
import { originOf, pagePolicy, sendKept } from './page-answer.ts'

/** `demoKey` is that of the demo merchant, where there is one. */
export type DocsOptions = { readonly mode: Mode; readonly demoKey: string | null }

/**
 * Adds the reference of the endpoints: `/openapi.json` for programs, `/docs` for people.
 *
 * Both hold nothing to protect and need no key. They are made when they are first asked for.
 */
export function addDocs(app: FastifyInstance, groups: readonly Group[], { mode, demoKey }: DocsOptions): void {
  let made: ReturnType<typeof makeDocs> | undefined
  const get = () => {
    made ??= makeDocs(groups, mode, demoKey)
    return made
  }

  app.get('/openapi.json', async (request, reply) => {
    const { json } = await get()
    // Whoever keeps it must not give a page of one origin what was for another.
    return sendKept(json, request, reply.header('vary', 'origin').type('application/json; charset=utf-8'))
  })
  app.get('/docs', async (request, reply) => {
    const { page, policy } = await get()
    reply.type('text/html; charset=utf-8').header('content-security-policy', policy)
    return sendKept(page.replaceAll(originMark, originOf(request, mode)), request, reply)
  })
  for (const path of ['/openapi.json', '/docs']) refuseOtherMethods(app, path, ['GET'])
}

/** Stands in the page for where the service is, which a request knows. */
const originMark = 'https://origin.invalid'

async function makeDocs(groups: readonly Group[], mode: Mode, key: string | null) {
  // Loaded only now: a start should not wait for what nobody may read.
  const [{ openapiDocument }, { docsPage }, { style }] = await Promise.all([
    import('./openapi.ts'),
    import('./docs-page.ts'),
    import('./docs-style.ts'),
  ])
  const document = openapiDocument(groups)
  return {
    json: JSON.stringify(document),
    page: docsPage(document, { origin: originMark, key, mode }),
    policy: pagePolicy(style),
  }
}
