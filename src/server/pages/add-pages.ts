import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Refusal } from '../../core/errors.ts'
import { isPageWanted } from '../http/content-negotiation.ts'
import { refuseOtherMethods } from '../http/method-not-allowed.ts'
import { favicon } from './favicon.ts'
import type { Home } from './home-page.ts'
import { homePage, homeStyle, homeText, notFoundPage } from './home-page.ts'
import { originOf, pagePolicy, sendKept } from './page-answer.ts'

/** Adds the page at `/`, which a terminal gets as text, and the mark that browsers show beside its name. */
export function addPages(app: FastifyInstance, { mode, key }: Pick<Home, 'mode' | 'key'>): void {
  app.get('/', async (request, reply) => {
    const home = { mode, key, origin: originOf(request, mode) }
    reply.header('vary', 'accept')
    if (!isForPeople(request)) return sendKept(homeText(home), request, reply.type('text/plain; charset=utf-8'))
    return sendKept(homePage(home), request, asPage(reply))
  })
  refuseOtherMethods(app, '/', ['GET'])
  // Browsers that have not read a page of ours ask for the second.
  for (const path of ['/favicon.svg', '/favicon.ico']) {
    app.get(path, async (request, reply) => sendKept(favicon, request, reply.type('image/svg+xml')))
    refuseOtherMethods(app, path, ['GET'])
  }
}

/** Whether a refusal is that a person has come to where nothing is. The doors below their paths answer programs only. */
export function isMissingPage({ code }: Refusal, request: FastifyRequest): boolean {
  return code === 'ENDPOINT_NOT_FOUND' && !/^\/(api|graphql)\b/.test(request.url) && isForPeople(request)
}

/** Says so, as a page. */
export function sendMissingPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return asPage(reply).code(404).send(notFoundPage(request.id))
}

function isForPeople({ method, headers }: FastifyRequest): boolean {
  return ['GET', 'HEAD'].includes(method) && isPageWanted(headers.accept)
}

function asPage(reply: FastifyReply): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy(homeStyle))
}
