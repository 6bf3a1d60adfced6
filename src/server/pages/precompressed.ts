import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { brotliCompress, constants, createGunzip, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type Precompressed = {
  readonly encoded: { readonly br: Uint8Array; readonly gzip: Uint8Array }
  readonly etag: string
}

export async function precompress(text: string): Promise<Precompressed> {
  const bytes = Buffer.from(text)
  const [br, gzipped] = await Promise.all([
    // Brotli quality 5 takes a second for 1.9 MB; quality 9 takes five times as long and saves 5 %.
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
    promisify(gzip)(bytes),
  ])
  return { encoded: { br, gzip: gzipped }, etag: hash('sha256', bytes, 'base64url').slice(0, 22) }
}

export function buildInThread<Built>(module: URL, workerData: unknown): Promise<Built> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(module, { workerData })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error(`worker thread ended without a result: ${module.pathname}`)))
    thread.unref()
  })
}

export function memoizeBuild<Built>(build: () => Promise<Built>): () => Promise<Built> {
  let built: Promise<Built> | undefined
  return () => {
    built ??= build().catch((error) => {
      built = undefined
      throw error
    })
    return built
  }
}

/** The ETag is weak, because all content encodings have the same ETag. */
export function sendPrecompressed(
  { encoded, etag }: Precompressed,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.header('etag', `W/"${etag}"`)
  if (headers['if-none-match']?.includes(`"${etag}"`)) return reply.code(304).send()
  const encoding = (['br', 'gzip'] as const).find((each) => isAccepted(each, headers['accept-encoding']))
  // The uncompressed text is not kept in memory, because nearly all clients accept gzip or Brotli.
  if (!encoding) return reply.send(createGunzip().end(encoded.gzip))
  return reply.header('content-encoding', encoding).send(encoded[encoding])
}

function isAccepted(encoding: string, header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .some((each) => each.split(';')[0]?.trim() === encoding && !/;\s*q=0(\.0*)?$/.test(each))
}
