import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { WallTime } from '../../core/ids-and-clock.ts'
import type { Validity } from '../../modules/merchants/authenticate.ts'
import { findRevokedKeys, isValidAt } from '../../modules/merchants/authenticate.ts'
import type { Service } from '../../operations/context.ts'

/** Answers that one merchant may hold open at once, in all processes of a machine together. */
export const maxStreamsPerMerchant = 100

/** Those that one token may hold open, in each process: a page that leaks them takes none from other pages. */
const maxStreamsPerToken = 10

/** Seconds after which a stream that found no room may be asked for again: those that end by themselves do so in moments. */
const retryAfterSeconds = 5

/** How often the keys of open streams are looked at: a stream ends within a second of its key. */
const pollIntervalMs = 500

/**
 * `ended` says why it must end before its own time; `null` when nobody listens any more, or it was released. `release` has it
 * counted no longer, though the connection stays open.
 */
type HeldStream = { readonly ended: Promise<DomainError | null>; readonly release: () => void }

/** An answer that stays open. */
type OpenStream = {
  readonly keyId: string
  readonly tokenId: string | null
  /** Between which times its key or token is good by itself. */
  readonly validity: Validity
  readonly refuse: (refusal: DomainError) => void
  readonly end: () => void
}

/**
 * Counts an answer that stays open, until it ends.
 *
 * @param onEnding called when the service ends, in the place of cutting the answer off
 */
export type HoldStream = (request: FastifyRequest, reply: FastifyReply, onEnding?: () => void) => HeldStream

/**
 * Keeps count of the answers that stay open, so that no merchant takes the sockets of all others, and ends them when their key
 * does, or the service: nobody else would.
 *
 * @param processes that answer, each of which may hold its share of a merchant's streams
 * @throws Refusal RATE_LIMITED when the merchant has as many open as it may
 */
export function createStreamLimiter(app: FastifyInstance, service: Service, processes: number): HoldStream {
  const most = Math.max(1, Math.floor(maxStreamsPerMerchant / processes))
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
    // Whoever is gone already is told of no more: nobody would hear of it a second time, and the stream would never end.
    if (reply.raw.destroyed) return { ended: Promise.resolve(null), release: () => {} }
    // It was let in before the service began to end, which ends what is open then, and no later.
    if (isEnding) {
      onEnding()
      return { ended: Promise.resolve(null), release: () => {} }
    }
    const streams = open.get(merchantId) ?? new Set()
    if (streams.size >= most) {
      reply.header('retry-after', String(retryAfterSeconds))
      const share = processes > 1 ? `, ${most} in each of ${processes} processes` : ''
      const message = `At most ${maxStreamsPerMerchant} streams of a merchant may be open at once${share}.`
      throw new DomainError('RATE_LIMITED', message)
    }
    const ofToken = tokenId === null ? 0 : [...streams].filter((stream) => stream.tokenId === tokenId).length
    if (ofToken >= maxStreamsPerToken) {
      reply.header('retry-after', String(retryAfterSeconds))
      throw new DomainError('RATE_LIMITED', `At most ${maxStreamsPerToken} streams of a token may be open at once.`)
    }
    const { promise, resolve } = Promise.withResolvers<DomainError | null>()
    const stream = { keyId: keyId ?? '', tokenId, validity, refuse: resolve, end: onEnding }
    // nginx, as Debian configures it, keeps an answer until it has several KiB or its end. Set here, so that no stream lacks it.
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
 * Looks at the keys of all open streams together, and only where any key may have changed: by a number on SQLite, by one
 * small query on a server.
 */
function watchCredentials(service: Service, streams: () => readonly OpenStream[]) {
  let timer: NodeJS.Timeout | null = null
  let seen: number | null = null
  let isLooking = false
  const poll = async () => {
    if (isLooking) return
    isLooking = true
    try {
      endExpiredStreams(service.wallClock(), streams())
      // Taken before the rows are read: what they say holds as of then.
      const version = service.db.tableVersion('apiKeys')
      if (version !== null && version === seen) return
      const ended = await findRevokedKeys(service, [...new Set(streams().map(({ keyId }) => keyId))])
      seen = version
      for (const { keyId, refuse } of streams()) {
        if (ended.has(keyId)) refuse(new DomainError('INVALID_TOKEN', 'The API key of this stream is no longer valid.'))
      }
    } catch {
      // A store that can't be read now may be at the next look.
    } finally {
      isLooking = false
    }
  }
  return {
    start: () => {
      // A key may have ended between its admission and now.
      seen = null
      timer ??= setInterval(poll, pollIntervalMs).unref()
    },
    stop: () => {
      if (timer !== null) clearInterval(timer)
      timer = null
    },
  }
}

function endExpiredStreams(now: WallTime, streams: readonly OpenStream[]): void {
  for (const { validity, refuse } of streams) {
    if (!isValidAt(validity, now)) refuse(new DomainError('INVALID_TOKEN', 'The token of this stream has expired.'))
  }
}

/** Results until there are no more, or until they must end: `last` is the last one then, `null` none. */
export async function* takeUntilEnd<Result>(
  results: AsyncIterable<Result>,
  last: Promise<Result | null>,
): AsyncGenerator<Result> {
  const iterator = results[Symbol.asyncIterator]()
  let ending: { readonly value: Result | null } | null = null
  let wake = () => {}
  // Waited for once, however many results come before: a promise keeps all that it was ever raced against.
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
    // Not waited for: it may be in the middle of waiting itself.
    iterator.return?.().catch(() => {})
  }
}
