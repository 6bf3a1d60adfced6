import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { WallTime } from '../../core/ids-and-clock.ts'
import type { Validity } from '../../modules/merchants/authenticate.ts'
import { findRevokedKeys, isValidAt } from '../../modules/merchants/authenticate.ts'
import type { Service } from '../../operations/context.ts'

/** The maximum number of open streams per merchant on one machine. */
export const maxStreamsPerMerchant = 100

/**
 * The maximum number of open streams per client token and process. The limit keeps a web page that leaks streams from
 * using the whole limit of the merchant.
 */
const maxStreamsPerToken = 10

const retryAfterSeconds = 5

/** A stream must end within a second after its API key is revoked. */
const pollIntervalMs = 500

/**
 * `ended` resolves to the error that ends the stream, or to `null` if the connection closes or `release` is called.
 * After `release`, the stream no longer counts towards the limits.
 */
type HeldStream = { readonly ended: Promise<DomainError | null>; readonly release: () => void }

type OpenStream = {
  readonly keyId: string
  readonly tokenId: string | null
  readonly validity: Validity
  readonly fail: (error: DomainError) => void
  readonly end: () => void
}

/** @param onEnding called when the service stops; by default it closes the connection */
export type HoldStream = (request: FastifyRequest, reply: FastifyReply, onEnding?: () => void) => HeldStream

/**
 * Ends a stream if its credential is revoked or expires, or if the service stops.
 *
 * @param processes the number of processes among which a merchant's limit is divided
 * @throws DomainError RATE_LIMITED if the merchant or the token has reached its limit
 */
export function createStreamLimiter(app: FastifyInstance, service: Service, processes: number): HoldStream {
  const maxStreams = Math.max(1, Math.floor(maxStreamsPerMerchant / processes))
  const open = new Map<string, Set<OpenStream>>()
  const allStreams = () => [...open.values()].flatMap((streams) => [...streams])
  const watch = watchCredentials(service, allStreams)
  let isEnding = false
  app.addHook('preClose', async () => {
    isEnding = true
    watch.stop()
    for (const { end } of allStreams()) end()
  })
  return ({ merchantId, caller: { keyId, tokenId }, validity }, reply, onEnding = () => reply.raw.destroy()) => {
    // A closed connection must not open a stream, because no further event `close` would release the stream.
    if (reply.raw.destroyed) return { ended: Promise.resolve(null), release: () => {} }
    // The service is stopping and has already ended all other streams.
    if (isEnding) {
      onEnding()
      return { ended: Promise.resolve(null), release: () => {} }
    }
    const streams = open.get(merchantId) ?? new Set()
    if (streams.size >= maxStreams) {
      reply.header('retry-after', String(retryAfterSeconds))
      const share = processes > 1 ? `, ${maxStreams} in each of ${processes} processes` : ''
      const message = `At most ${maxStreamsPerMerchant} streams of a merchant may be open simultaneously${share}.`
      throw new DomainError('RATE_LIMITED', message)
    }
    const tokenStreamCount = tokenId === null ? 0 : [...streams].filter((stream) => stream.tokenId === tokenId).length
    if (tokenStreamCount >= maxStreamsPerToken) {
      reply.header('retry-after', String(retryAfterSeconds))
      throw new DomainError(
        'RATE_LIMITED',
        `At most ${maxStreamsPerToken} streams of a token may be open simultaneously.`,
      )
    }
    const { promise, resolve } = Promise.withResolvers<DomainError | null>()
    const stream = { keyId: keyId ?? '', tokenId, validity, fail: resolve, end: onEnding }
    // Without this header, nginx would buffer several KiB of the response.
    reply.header('x-accel-buffering', 'no')
    open.set(merchantId, streams.add(stream))
    watch.start()
    const release = () => {
      resolve(null)
      reply.raw.off('close', release)
      if (!streams.delete(stream)) return
      if (streams.size === 0) open.delete(merchantId)
      if (open.size === 0) watch.stop()
    }
    reply.raw.once('close', release)
    return { ended: promise, release }
  }
}

/**
 * On SQLite, the API keys are read only if the table version has changed. On PostgreSQL, each poll reads the API keys.
 */
function watchCredentials(service: Service, streams: () => readonly OpenStream[]) {
  let timer: NodeJS.Timeout | null = null
  let seenVersion: number | null = null
  let isPolling = false
  const poll = async () => {
    if (isPolling) return
    isPolling = true
    try {
      endExpiredStreams(service.wallClock(), streams())
      // Reads the table version before the API keys, so that the next poll detects a change that happens during the
      // read.
      const version = service.db.tableVersion('apiKeys')
      if (version !== null && version === seenVersion) return
      const revoked = await findRevokedKeys(service, [...new Set(streams().map(({ keyId }) => keyId))])
      seenVersion = version
      for (const { keyId, fail } of streams()) {
        if (revoked.has(keyId)) fail(new DomainError('INVALID_TOKEN', 'The API key of this stream is no longer valid.'))
      }
    } catch {
    } finally {
      isPolling = false
    }
  }
  return {
    start: () => {
      // An API key may have been revoked since the request was authenticated.
      seenVersion = null
      timer ??= setInterval(poll, pollIntervalMs).unref()
    },
    stop: () => {
      if (timer !== null) clearInterval(timer)
      timer = null
    },
  }
}

function endExpiredStreams(now: WallTime, streams: readonly OpenStream[]): void {
  for (const { validity, fail } of streams) {
    if (!isValidAt(validity, now)) fail(new DomainError('INVALID_TOKEN', 'The token of this stream has expired.'))
  }
}

/** If `last` resolves to a value other than `null`, the value is the last result. */
export async function* takeUntilEnd<Result>(
  results: AsyncIterable<Result>,
  last: Promise<Result | null>,
): AsyncGenerator<Result> {
  const iterator = results[Symbol.asyncIterator]()
  let ending: { readonly value: Result | null } | null = null
  let wake = () => {}
  // `Promise.race` would add a handler to `last` for each result.
  last.then((value) => {
    ending = { value }
    wake()
  })
  const nextOrEnd = () =>
    new Promise<IteratorResult<Result> | null>((resolve, reject) => {
      wake = () => resolve(null)
      if (ending !== null) wake()
      else iterator.next().then(resolve, reject)
    })
  try {
    for (;;) {
      const next = await nextOrEnd()
      if (next === null) {
        const { value } = ending as unknown as { value: Result | null }
        if (value !== null) yield value
        return
      }
      if (next.done) return
      yield next.value
    }
  } finally {
    // Does not await `return`, because the iterator may be waiting for an event.
    iterator.return?.().catch(() => {})
  }
}
