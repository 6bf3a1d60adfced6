import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

export type ResponseFlush = {
  /** Queues a response. `send` must not throw. */
  readonly schedule: (send: () => void) => void
  /** Sends all queued responses, before long synchronous work. */
  readonly flush: () => void
  /** Sends them if the oldest has waited too long in an iteration with many requests. */
  readonly flushOverdue: () => void
}

const overdueMs = 2

/**
 * Queues responses of reads until the end of the event-loop iteration (`setImmediate`), and sends them one right after another.
 *
 * The client, often a proxy on the same machine, is woken by the first and still awake for the others; a wake-up for each costs
 * this process up to half of a small response. Responses of writes are not queued: a batch commits them together.
 */
export function createResponseFlush(): ResponseFlush {
  let queue: (() => void)[] = []
  let queuedSince = 0

  function schedule(send: () => void): void {
    if (queue.length === 0) {
      queuedSince = performance.now()
      setImmediate(flush)
    }
    queue.push(send)
  }

  function flush(): void {
    const ready = queue
    queue = []
    const errors = []
    for (const send of ready) {
      try {
        send()
      } catch (error) {
        errors.push(error)
      }
    }
    // An error here is a bug and ends the process.
    if (errors.length > 0) throw errors[0]
  }

  function flushOverdue(): void {
    if (queue.length > 0 && performance.now() - queuedSince >= overdueMs) flush()
  }

  return { schedule, flush, flushOverdue }
}

export type TextResponse = { readonly status: number; readonly type: string; readonly text: string }

/**
 * Sends a response of one text with the headers of the reply, now or when `whenReady` calls back.
 *
 * Bypasses Fastify's serialization, type checks and `onSend` hooks, which take a twentieth of the time of a small response.
 */
export function sendText(
  reply: FastifyReply,
  { status, type, text }: TextResponse,
  whenReady: (send: () => void) => void = (send) => send(),
): void {
  reply.hijack()
  // Measuring flattens the concatenated string, while its parts are still in the processor's cache.
  const length = Buffer.byteLength(text)
  whenReady(() => {
    const headers = reply.getHeaders() as OutgoingHttpHeaders
    headers['content-type'] = type
    headers['content-length'] = length
    reply.raw.writeHead(status, headers)
    if (length > minSeparateBytes) writeSeparately(reply.raw, text, length === text.length ? 'latin1' : 'utf8')
    else reply.raw.end(text)
  })
}

/** Node copies a head and a body into one string; above this size that is slower than two buffers. */
const minSeparateBytes = 4_096

/** Writes head and body in one system call; ASCII text as latin1, which needs no encoding. */
function writeSeparately(response: ServerResponse, text: string, encoding: 'latin1' | 'utf8'): void {
  response.cork()
  response.flushHeaders()
  response.end(text, encoding)
}
