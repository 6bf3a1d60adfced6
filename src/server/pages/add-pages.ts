import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../core/errors.ts'
import { isHtmlRequested } from '../http/content-negotiation.ts'
import { rejectOtherMethods } from '../http/method-not-allowed.ts'
import { favicon } from './favicon.ts'
import type { HomePageOptions } from './home-page.ts'
import { homePage, homeStyle, homeText, notFoundPage } from './home-page.ts'
import { pagePolicy, sendWithEtag, serviceOriginOf } from './page-response.ts'

/** Adds the page at `/`, which a terminal gets as text, and the mark that browsers show beside its name. */
export function addPages(app: FastifyInstance, { mode, key }: Pick<HomePageOptions, 'mode' | 'key'>): void {
  app.get('/', async (request, reply) => {
    const home = { mode, key, origin: serviceOriginOf(request, mode) }
    reply.header('vary', 'accept')
    if (!isPageRequest(request)) return sendWithEtag(homeText(home), request, reply.type('text/plain; charset=utf-8'))
    return sendWithEtag(homePage(home), request, asHtml(reply))
  })
  rejectOtherMethods(app, '/', ['GET'])
  // Browsers that have not read a page of ours ask for the second.
  for (const path of ['/favicon.svg', '/favicon.ico']) {
    app.get(path, async (request, reply) => sendWithEtag(favicon, request, reply.type('image/svg+xml')))
    rejectOtherMethods(app, path, ['GET'])
  }
}

/** Whether a refusal is that a person has come to where nothing is. The doors below their paths answer programs only. */
export function isMissingPage({ code }: DomainError, request: FastifyRequest): boolean {
  return code === 'ENDPOINT_NOT_FOUND' && !/^\/(api|graphql)\b/.test(request.url) && isPageRequest(request)
}

/** Says so, as a page. */
export function sendMissingPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return asHtml(reply).code(404).send(notFoundPage(request.id))
}

function isPageRequest({ method, headers }: FastifyRequest): boolean {
  return ['GET', 'HEAD'].includes(method) && isHtmlRequested(headers.accept)
}

function asHtml(reply: FastifyReply): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy(homeStyle))
}
