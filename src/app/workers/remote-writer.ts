import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { Refusal, unavailable, unknownOutcome } from '../../core/errors.ts'
import { answerLimitMs, machineClock } from '../../database/deadline.ts'
import { noCaller } from '../../operations/access/api-caller.ts'
import type { Perform } from '../../operations/context.ts'
import type { Send } from './channel.ts'
import { channelOver } from './channel.ts'
import { pingCall } from './messages.ts'
import type { Answer, Call } from './writer.ts'

/** Operations that wait for the writer; one more is refused, so that overload sheds instead of piling up. */
const waitingLimit = 10_000

/** How often a writer that is not there is looked for, and after how long callers are no longer kept waiting for one. */
const reconnectMs = 20
const patienceMs = 5_000

/** How often is looked for calls that have waited too long, and how long the writer has to tell that it is there. */
const lookMs = 250
const pingLimitMs = 1_000

/** Objects within objects that an operation's input has at most. */
const nestingLimit = 3

type Pending = {
  readonly call: Call
  isSent: boolean
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** The way to the process that writes. */
export type WriterLine = {
  readonly perform: Perform
  /** @throws Refusal UNAVAILABLE when the writer does not answer at once */
  readonly ping: () => Promise<void>
  readonly close: () => void
}

/**
 * Hands operations over to the process that listens at `path`.
 *
 * When that process dies another takes its place, and what has not been sent yet goes there, as does what bears an
 * idempotency key, which makes it safe to send again: its caller only waits longer. What was sent without a key is
 * refused as of unknown outcome, and so is what a writer that is stuck does not answer in time.
 *
 * @param onAnswer called before a caller is answered, so that it can read what was written for it
 * @param limitMs how long a caller waits at most, whatever happens, but for the time between two looks
 */
export function lineToWriter(path: string, onAnswer: () => void, limitMs = answerLimitMs): WriterLine {
  const waiting = new Map<number, Pending>()
  let lastId = 0
  let socket: Socket | null = null
  let send: Send | null = null
  let lostAt = performance.now()
  let isClosed = false
  const looking = setInterval(refuseOverdue, lookMs).unref()

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

  function refuseOverdue(): void {
    const now = machineClock()
    for (const pending of waiting.values()) if (pending.call.beginBy < now) giveUp(pending)
  }

  function giveUp(pending: Pending): void {
    settle(pending, pending.isSent ? unknownOutcome(new Error('the writer did not answer in time')) : unavailable())
  }

  /** Refuses a call that gets no answer. A ping stores nothing, so there is nothing to repeat or to look for. */
  function settle({ call, reject }: Pending, error: unknown): void {
    waiting.delete(call.id)
    reject(call.operation === pingCall ? unavailable('The process that writes the database does not answer.') : error)
  }

  function take(answer: Answer): void {
    const pending = waiting.get(answer.id)
    if (!pending) return
    waiting.delete(answer.id)
    onAnswer()
    if ('result' in answer) pending.resolve(answer.result as never)
    else if ('refusal' in answer) pending.reject(refusalFrom(answer))
    else pending.reject(answer.fault)
  }

  const perform: Perform = (operation, context, input) => {
    // Nothing that an operation takes: it is refused here as it would be there, and not sent, which takes stack for each level.
    if (isNestedBeyond(nestingLimit, input)) return operation(context, input)
    return new Promise((resolve, reject) => {
      if (waiting.size >= waitingLimit) throw unavailable('Too many requests are waiting to be stored.')
      const { merchantId, caller, idempotencyKey, aheadMs, trace } = context
      const beginBy = machineClock() + limitMs
      const asked = { operation: operation.name, merchantId, caller, idempotencyKey, aheadMs, input }
      const call = { id: ++lastId, ...asked, beginBy, ...(trace && { trace }) }
      add({ call, isSent: false, resolve, reject })
    })
  }

  function ping(): Promise<void> {
    return new Promise((resolve, reject) => {
      const beginBy = machineClock() + pingLimitMs
      const call = {
        id: ++lastId,
        operation: pingCall,
        merchantId: '',
        caller: noCaller,
        idempotencyKey: null,
        aheadMs: 0,
        input: null,
        beginBy,
      }
      add({ call, isSent: false, resolve, reject })
    })
  }

  function add(pending: Pending): void {
    waiting.set(pending.call.id, pending)
    deliver(pending)
  }

  open()
  return {
    perform,
    ping,
    close: () => {
      clearInterval(looking)
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
