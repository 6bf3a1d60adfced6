import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** The outcome of a flood of requests. */
export type FloodReport = {
  readonly sent: number
  /** Number of responses by status. */
  readonly statuses: ReadonlyMap<number, number>
  /** Temporary rejections without a Retry-After header. */
  readonly withoutRetryAfter: number
  /** Requests whose connection broke before a response. */
  readonly lostCount: number
  /** Response times of completed requests in milliseconds, ascending. */
  readonly waitsMs: readonly number[]
}

/** Target of a flood; every request has the same bytes. */
export type FloodTarget = { readonly port: number; readonly request: string }

/** Sends the same request repeatedly over several connections, each as soon as the previous response arrives. */
export async function floodClosed(
  target: FloodTarget,
  { clients, forMs }: { clients: number; forMs: number },
): Promise<FloodReport> {
  const flood = startFlood(target)
  const end = performance.now() + forMs
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < end) await flood.ask()
    }),
  )
  return flood.end()
}

/**
 * Sends the same request at a fixed rate, independent of responses, over connections that are already open. The
 * system may reject connections that the server has not accepted yet.
 *
 * @param most maximum open connections; a request beyond them is not sent
 * @param onTick called periodically
 */
export async function floodOpen(
  target: FloodTarget,
  { perSecond, forMs, most, onTick }: { perSecond: number; forMs: number; most: number; onTick: () => void },
): Promise<FloodReport> {
  const flood = startFlood(target)
  await flood.openFirst(most)
  const begunAt = performance.now()
  let due = 0
  for (let at = begunAt; at < begunAt + forMs; at = performance.now()) {
    const dueNow = Math.floor(((at - begunAt) / 1000) * perSecond)
    for (; due < dueNow; due++) if (flood.waiting() < most) flood.ask()
    onTick()
    await wait(5)
  }
  return flood.end()
}

function startFlood({ port, request }: FloodTarget) {
  const idle: Connection[] = []
  const statuses = new Map<number, number>()
  const waitsMs: number[] = []
  const open = new Set<Promise<void>>()
  let sent = 0
  let lostCount = 0
  let withoutRetryAfter = 0

  async function exchange(): Promise<void> {
    const connection = openOne()
    const sentAt = performance.now()
    sent++
    const head = await connection.ask(request)
    if (head === null) {
      lostCount++
      return
    }
    idle.push(connection)
    const status = Number(head.slice(9, 12))
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status < 400) waitsMs.push(performance.now() - sentAt)
    else if ((status === 429 || status === 503) && !/\r\nretry-after: \d/i.test(head)) withoutRetryAfter++
  }

  /** A server closes idle connections; that loses no request. */
  function openOne(): Connection {
    for (let connection = idle.pop(); connection; connection = idle.pop()) if (connection.isOpen()) return connection
    return openConnection(port)
  }

  const ask = (): Promise<void> => {
    const asking = exchange().finally(() => open.delete(asking))
    open.add(asking)
    return asking
  }
  const end = async (): Promise<FloodReport> => {
    await Promise.all(open)
    for (const { close } of idle) close()
    return { sent, statuses, withoutRetryAfter, lostCount, waitsMs: waitsMs.sort((a, b) => a - b) }
  }
  /** Opens connections ahead of use, at most as many concurrently as the listen backlog holds. */
  const openFirst = async (count: number) => {
    while (idle.length < count) {
      const some = Array.from({ length: Math.min(100, count - idle.length) }, () => openConnection(port))
      await Promise.all(some.map(({ opened }) => opened))
      idle.push(...some)
    }
  }
  return { ask, waiting: () => open.size, openFirst, end }
}

/**
 * A connection with at most one request under way; `ask` returns the response head, or `null` if the connection
 * broke.
 */
type Connection = {
  readonly opened: Promise<unknown>
  readonly isOpen: () => boolean
  readonly ask: (request: string) => Promise<string | null>
  readonly close: () => void
}

/** Reads as little of a response as possible: the flood must cost less CPU than the server. */
function openConnection(port: number): Connection {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let received = ''
  let respond: (head: string | null) => void = () => {}
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(received) ?? []
    if (received.length < headEnd + 4 + Number(length)) return
    const head = received.slice(0, headEnd)
    received = ''
    respond(head)
  })
  socket.on('error', () => {})
  socket.on('close', () => respond(null))
  const ask = (request: string) =>
    new Promise<string | null>((resolve) => {
      respond = resolve
      if (socket.destroyed) resolve(null)
      else socket.write(request)
    })
  return {
    opened: once(socket, 'connect'),
    isOpen: () => socket.readyState === 'open',
    ask,
    close: () => socket.destroy(),
  }
}
