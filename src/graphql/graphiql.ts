import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A tab of GraphiQL: an operation that can be run as it is. */
export type Tab = { readonly query: string; readonly variables?: string; readonly headers?: string }

/** The page and its encodings, each made when it is first asked for: it is of nine megabytes. */
export type GraphiqlPage = {
  readonly encoded: (encoding: 'br' | 'gzip' | 'identity') => Promise<Buffer>
  readonly etag: () => Promise<string>
}

/**
 * GraphiQL as one page that loads nothing from anywhere else.
 *
 * @param tabs what it opens with, in a browser that has not been here before
 */
export function graphiqlPage(tabs: () => Promise<readonly Tab[]>): GraphiqlPage {
  const page = once(async () => Buffer.from(renderPage(await tabs())))
  const encodings = {
    br: once(async () => promisify(brotliCompress)(await page(), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })),
    gzip: once(async () => promisify(gzip)(await page())),
    identity: page,
  }
  return {
    encoded: (encoding) => encodings[encoding](),
    etag: once(async () => `"${hash('sha256', await page(), 'base64url').slice(0, 22)}"`),
  }
}

/** Sends the page, compressed as the browser takes it, or the word that the browser has it already. */
export async function sendGraphiql(
  page: GraphiqlPage,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const etag = await page.etag()
  // Always asked for anew, and nearly always answered with 304: an update of the service shows at once.
  reply.header('etag', etag).header('cache-control', 'private, no-cache').header('vary', 'accept, accept-encoding')
  reply
    .header('x-content-type-options', 'nosniff')
    .header('x-frame-options', 'DENY')
    .header('referrer-policy', 'no-referrer')
  if (headers['if-none-match'] === etag) return reply.code(304).send()
  const accepted = String(headers['accept-encoding'] ?? '')
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : 'identity'
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type('text/html; charset=utf-8').send(await page.encoded(encoding))
}

function renderPage(tabs: readonly Tab[]): string {
  const [first] = tabs
  return renderGraphiQL({
    title: 'payout-gateway GraphiQL',
    endpoint: '/graphql',
    defaultTabs: tabs,
    ...(first?.headers && { defaultHeaders: first.headers }),
  } as never)
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    // A failure is not kept: the next request tries again.
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}
