import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { Download } from '../../rest/route.ts'
import type { HoldStream } from '../graphql/stream-limiter.ts'

/**
 * The maximum number of downloads per merchant and process. A download slows down other requests, because it uses the
 * event loop.
 */
export const maxDownloadsPerMerchant = 2

const retryAfterSeconds = 5

const stallTimeoutMs = 30_000

export type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** @throws DomainError RATE_LIMITED, and the errors of `find`; throws only before the response begins */
export type SendDownload = (exchange: Exchange, find: () => Promise<Download>) => Promise<void>

/**
 * Each download counts as a stream, and ends when the caller's credential becomes invalid. If a download fails after
 * the response has begun, the connection is destroyed, so that the client does not accept a truncated file.
 */
export function createDownloadSender(holdStream: HoldStream, maxStallMs = stallTimeoutMs): SendDownload {
  const activeByMerchant = new Map<string, number>()
  const acquireSlot = ({ merchantId }: FastifyRequest, reply: FastifyReply) => {
    const active = activeByMerchant.get(merchantId) ?? 0
    if (active >= maxDownloadsPerMerchant) {
      reply.header('retry-after', String(retryAfterSeconds))
      throw new DomainError(
        'RATE_LIMITED',
        `A merchant may have at most ${maxDownloadsPerMerchant} concurrent downloads.`,
      )
    }
    activeByMerchant.set(merchantId, active + 1)
  }
  const releaseSlot = ({ merchantId }: FastifyRequest) => {
    const active = (activeByMerchant.get(merchantId) ?? 1) - 1
    if (active > 0) activeByMerchant.set(merchantId, active)
    else activeByMerchant.delete(merchantId)
  }
  return async ({ request, reply }, find) => {
    acquireSlot(request, reply)
    try {
      const { ended, release } = holdStream(request, reply)
      ended.then((reason) => reason && reply.raw.destroy())
      try {
        await sendChunks({ request, reply }, await find(), maxStallMs)
      } finally {
        release()
      }
    } finally {
      releaseSlot(request)
    }
  }
}

async function sendChunks(
  { request, reply }: Exchange,
  { type, name, chunks }: Download,
  maxStallMs: number,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]()
  // If reading the first chunk fails, the client still gets an error response.
  let chunk = await iterator.next()
  reply.hijack()
  const { raw } = reply
  try {
    raw.writeHead(200, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
    })
    if (request.method === 'HEAD') return void raw.end()
    for (; !chunk.done && !raw.destroyed; chunk = await iterator.next()) {
      if (!raw.write(chunk.value)) await waitForDrain(raw, maxStallMs)
    }
    if (chunk.done) raw.end()
  } catch (error) {
    request.log.error({ err: error, request_id: request.id }, 'download failed: the connection was closed')
    raw.destroy()
  } finally {
    await iterator.return?.()
  }
}

function waitForDrain(raw: ServerResponse, maxStallMs: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      raw.off('drain', finish).off('close', finish)
      resolve()
    }
    const timer = setTimeout(() => {
      raw.destroy()
      finish()
    }, maxStallMs)
    raw.once('drain', finish).once('close', finish)
    if (raw.destroyed) finish()
  })
}
