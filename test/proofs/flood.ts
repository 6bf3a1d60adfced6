import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** What became of requests. */
export type FloodReport = {
  readonly sent: number
  /** How many were answered with each status. */
  readonly statuses: ReadonlyMap<number, number>
  /** Refusals for now that do not say when to come again. */
  readonly withoutRetryAfter: number
  /** Requests whose connection was lost before there was an answer. */
  readonly lost: number
  /** Milliseconds until an answer, of those that were done, in ascending order. */
  readonly waitsMs: readonly number[]
}

/** Where the requests go: each is the same bytes. */
export type FloodTarget = { readonly port: number; readonly request: string }

/** Sends the same request over and over from so many connections, each as soon as the last one is answered. */
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
 * Sends the same request so often a second, whether answers come or not, over connections that are open already: those
 * that are not accepted yet are the system's to refuse.
 *
 * @param most connections at once: a request beyond them is not sent
 * @param onTick is called now and then
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
  let lost = 0
  let withoutRetryAfter = 0

  async function exchange(): Promise<void> {
    const connection = openOne()
    const sentAt = performance.now()
    sent++
    const head = await connection.ask(request)
    if (head === null) {
      lost++
      return
    }
    idle.push(connection)
    const status = Number(head.slice(9, 12))
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status < 400) waitsMs.push(performance.now() - sentAt)
    else if ((status === 429 || status === 503) && !/\r\nretry-after: \d/i.test(head)) withoutRetryAfter++
  }

  /** A server closes what was idle for long, and nothing is lost by that. */
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
    return { sent, statuses, withoutRetryAfter, lost, waitsMs: waitsMs.sort((a, b) => a - b) }
  }
  /** Opens connections before they are needed, no more at once than may wait for a server to accept them. */
  const openFirst = async (count: number) => {
    while (idle.length < count) {
      const some = Array.from({ length: Math.min(100, count - idle.length) }, () => openConnection(port))
      await Promise.all(some.map(({ opened }) => opened))
      idle.push(...some)
    }
  }
  return { ask, waiting: () => open.size, openFirst, end }
}

/** A connection that has one request under way at most; `ask` gives the head of the answer, `null` when it was lost. */
type Connection = {
  readonly opened: Promise<unknown>
  readonly isOpen: () => boolean
  readonly ask: (request: string) => Promise<string | null>
  readonly close: () => void
}

/** Reads no more of an answer than it must: what floods a server must cost less than to serve it. */
function openConnection(port: number): Connection {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let received = ''
  let answer: (head: string | null) => void = () => {}
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(received) ?? []
    if (received.length < headEnd + 4 + Number(length)) return
    const head = received.slice(0, headEnd)
    received = ''
    answer(head)
  })
  socket.on('error', () => {})
  socket.on('close', () => answer(null))
  const ask = (request: string) =>
    new Promise<string | null>((resolve) => {
      answer = resolve
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
