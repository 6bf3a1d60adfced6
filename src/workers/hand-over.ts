import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { Context, HandOver } from '../context.ts'
import { Refusal, unavailable, unknownOutcome } from '../errors.ts'
import type { Send } from './channel.ts'
import { channelOver } from './channel.ts'
import type { Answer, Call } from './writer.ts'

/** Operations that wait for the writer; one more is refused, so that overload sheds instead of piling up. */
const waitingLimit = 10_000

/** How often a writer that is not there is looked for, and after how long callers are no longer kept waiting for one. */
const reconnectMs = 20
const patienceMs = 5_000

/** Objects within objects that an operation's input has at most. */
const nestingLimit = 3

type Pending = {
  readonly call: Call
  readonly context: Context
  isSent: boolean
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** The way to the process that writes. */
export type WriterLine = {
  readonly handOver: HandOver
  readonly close: () => void
}

/**
 * Hands operations over to the process that listens at `path`.
 *
 * When that process dies another takes its place, and what has not been sent yet goes there, as does what bears an
 * idempotency key, which makes it safe to send again: its caller only waits longer. What was sent without a key is
 * refused as of unknown outcome.
 *
 * @param onAnswer called before a caller is answered, so that it can read what was written for it
 */
export function lineToWriter(path: string, onAnswer: () => void): WriterLine {
  const waiting = new Map<number, Pending>()
  let lastId = 0
  let socket: Socket | null = null
  let send: Send | null = null
  let lostAt = performance.now()
  let isClosed = false

  function open(): void {
    if (isClosed) return
    socket = connect(path)
    socket.on('connect', () => {
      send = channelOver(socket as Socket, take)
      for (const pending of waiting.values()) deliver(pending)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      lose()
      setTimeout(open, reconnectMs)
    })
  }

  function deliver(pending: Pending): void {
    if (send === null) return
    send(pending.call)
    pending.isSent = true
  }

  function lose(): void {
    if (send !== null) lostAt = performance.now()
    send = null
    const isPatienceOver = performance.now() - lostAt > patienceMs
    for (const pending of waiting.values()) {
      if (pending.isSent && pending.call.idempotencyKey === null) settle(pending, unknownOutcome(null))
      else if (isPatienceOver) settle(pending, unavailable())
    }
  }

  function settle({ call, reject }: Pending, error: unknown): void {
    waiting.delete(call.id)
    reject(error)
  }

  function take(answer: Answer): void {
    const pending = waiting.get(answer.id)
    if (!pending) return
    waiting.delete(answer.id)
    onAnswer()
    pending.context.isReplayed = answer.isReplayed
    if ('result' in answer) pending.resolve(answer.result as never)
    else if ('refusal' in answer) pending.reject(refusalFrom(answer))
    else pending.reject(answer.fault)
  }

  const handOver: HandOver = (operation, context, input) => {
    // Nothing that an operation takes: it is refused here as it would be there, and not sent, which takes stack for each level.
    if (isNestedBeyond(nestingLimit, input)) return operation.run(context, input)
    return new Promise((resolve, reject) => {
      if (waiting.size >= waitingLimit) throw unavailable('Too many requests are waiting to be stored.')
      const { merchantId, idempotencyKey } = context
      const call = { id: ++lastId, operation: operation.name, merchantId, idempotencyKey, input }
      const pending = { call, context, isSent: false, resolve, reject }
      waiting.set(call.id, pending)
      deliver(pending)
    })
  }

  open()
  return {
    handOver,
    close: () => {
      isClosed = true
      socket?.destroy()
    },
  }
}

function refusalFrom({ refusal: { code, message, details }, cause }: Extract<Answer, { refusal: unknown }>): Refusal {
  return Object.assign(new Refusal(code, message, details), cause !== undefined && { cause })
}

function isNestedBeyond(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isNestedBeyond(levels - 1, each))
}
