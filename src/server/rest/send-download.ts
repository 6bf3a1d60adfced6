import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { Download } from '../../rest/route.ts'
import type { HoldStream } from '../graphql/stream-limiter.ts'

/** Files that one merchant may have written at once, in each process: each takes turns that others would have. */
export const maxDownloadsPerMerchant = 2

/** Seconds after which one that found no room may be asked for again. */
const retryAfterSeconds = 5

/** How long a part of a file may wait to be taken. Whoever reads nothing in the meantime is cut off. */
const stallTimeoutMs = 30_000

type DownloadExchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** Finds a file and answers with it. @throws Refusal, before anything is answered: RATE_LIMITED, and what `find` refuses */
export type SendDownload = (exchange: DownloadExchange, find: () => Promise<Download>) => Promise<void>

/**
 * Sends files part by part, no faster than they are read, so many of a merchant at once. They count among the merchant's streams, and
 * end with its key.
 *
 * What can't be written to its end is cut off in its middle: no client takes that for a whole answer.
 */
export function createDownloadSender(holdStream: HoldStream, stallsAfterMs = stallTimeoutMs): SendDownload {
  const open = new Map<string, number>()
  const acquireSlot = ({ merchantId }: FastifyRequest, reply: FastifyReply) => {
    const count = open.get(merchantId) ?? 0
    if (count >= maxDownloadsPerMerchant) {
      reply.header('retry-after', String(retryAfterSeconds))
      throw new DomainError(
        'RATE_LIMITED',
        `At most ${maxDownloadsPerMerchant} files of a merchant may be written at once.`,
      )
    }
    open.set(merchantId, count + 1)
  }
  const releaseSlot = ({ merchantId }: FastifyRequest) => {
    const rest = (open.get(merchantId) ?? 1) - 1
    if (rest > 0) open.set(merchantId, rest)
    else open.delete(merchantId)
  }
  return async ({ request, reply }, find) => {
    acquireSlot(request, reply)
    try {
      const { ended, release } = holdStream(request, reply)
      ended.then((reason) => reason && reply.raw.destroy())
      try {
        await sendParts({ request, reply }, await find(), stallsAfterMs)
      } finally {
        release()
      }
    } finally {
      releaseSlot(request)
    }
  }
}

async function sendParts(
  { request, reply }: DownloadExchange,
  { type, name, chunks: texts }: Download,
  stallsAfterMs: number,
): Promise<void> {
  const parts = texts[Symbol.asyncIterator]()
  // What is wrong from the first is answered as any other failure.
  let part = await parts.next()
  reply.hijack()
  const { raw } = reply
  try {
    raw.writeHead(200, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
    })
    // Of which nothing is sent, so nothing more is read.
    if (request.method === 'HEAD') return void raw.end()
    for (; !part.done && !raw.destroyed; part = await parts.next()) {
      if (!raw.write(part.value)) await waitForDrain(raw, stallsAfterMs)
    }
    if (part.done) raw.end()
  } catch (error) {
    request.log.error({ err: error, request_id: request.id }, 'a file could not be written to its end')
    raw.destroy()
  } finally {
    await parts.return?.()
  }
}

/** Waits until what was written is on its way to the caller; whoever has gone, or takes nothing, is cut off. */
function waitForDrain(raw: ServerResponse, stallsAfterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(stalled)
      raw.off('drain', end).off('close', end)
      resolve()
    }
    const stalled = setTimeout(() => {
      raw.destroy()
      end()
    }, stallsAfterMs)
    raw.once('drain', end).once('close', end)
    if (raw.destroyed) end()
  })
}
