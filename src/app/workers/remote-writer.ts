import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { DomainError, unavailable, unknownOutcome } from '../../core/errors.ts'
import { monotonicNowMs, writeTimeoutMs } from '../../database/group-commit.ts'
import { systemCaller } from '../../operations/access/api-caller.ts'
import type { Perform } from '../../operations/context.ts'
import type { ChannelSend } from './channel.ts'
import { openChannel } from './channel.ts'
import { pingOperation } from './messages.ts'
import type { WriterCall, WriterReply } from './writer.ts'

/** Operations that wait for the writer; one more is refused, so that overload sheds instead of piling up. */
const maxPendingCalls = 10_000

/** How often a writer that is not there is looked for, and after how long callers are no longer kept waiting for one. */
const reconnectDelayMs = 20
const reconnectTimeoutMs = 5_000

/** How often is looked for calls that have waited too long, and how long the writer has to tell that it is there. */
const overdueCheckIntervalMs = 250
const pingTimeoutMs = 1_000

/** Objects within objects that an operation's input has at most. */
const maxInputNesting = 3

type PendingCall = {
  readonly call: WriterCall
  isSent: boolean
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** The way to the process that writes. */
export type RemoteWriter = {
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
export function connectToWriter(path: string, onAnswer: () => void, limitMs = writeTimeoutMs): RemoteWriter {
  const waiting = new Map<number, PendingCall>()
  let lastId = 0
  let socket: Socket | null = null
  let send: ChannelSend | null = null
  let lostAt = performance.now()
  let isClosed = false
  const looking = setInterval(rejectOverdueCalls, overdueCheckIntervalMs).unref()

  function connectSocket(): void {
    if (isClosed) return
    socket = connect(path)
    socket.on('connect', () => {
      send = openChannel(socket as Socket, handleReply)
      for (const pending of waiting.values()) sendCall(pending)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      handleDisconnect()
      setTimeout(connectSocket, reconnectDelayMs)
    })
  }

  function sendCall(pending: PendingCall): void {
    if (send === null) return
    send(pending.call)
    pending.isSent = true
  }

  function handleDisconnect(): void {
    if (send !== null) lostAt = performance.now()
    send = null
    const isPatienceOver = performance.now() - lostAt > reconnectTimeoutMs
    for (const pending of waiting.values()) {
      if (pending.isSent && pending.call.idempotencyKey === null) rejectCall(pending, unknownOutcome(null))
      else if (isPatienceOver) rejectCall(pending, unavailable())
    }
  }

  function rejectOverdueCalls(): void {
    const now = monotonicNowMs()
    for (const pending of waiting.values()) if (pending.call.beginBy < now) rejectOverdue(pending)
  }

  function rejectOverdue(pending: PendingCall): void {
    rejectCall(pending, pending.isSent ? unknownOutcome(new Error('the writer did not answer in time')) : unavailable())
  }

  /** Refuses a call that gets no answer. A ping stores nothing, so there is nothing to repeat or to look for. */
  function rejectCall({ call, reject }: PendingCall, error: unknown): void {
    waiting.delete(call.id)
    reject(
      call.operation === pingOperation ? unavailable('The process that writes the database does not answer.') : error,
    )
  }

  function handleReply(answer: WriterReply): void {
    const pending = waiting.get(answer.id)
    if (!pending) return
    waiting.delete(answer.id)
    onAnswer()
    if ('result' in answer) pending.resolve(answer.result as never)
    else if ('refusal' in answer) pending.reject(domainErrorFrom(answer))
    else pending.reject(answer.fault)
  }

  const perform: Perform = (operation, context, input) => {
    // Nothing that an operation takes: it is refused here as it would be there, and not sent, which takes stack for each level.
    if (isNestedBeyond(maxInputNesting, input)) return operation(context, input)
    return new Promise((resolve, reject) => {
      if (waiting.size >= maxPendingCalls) throw unavailable('Too many requests are waiting to be stored.')
      const { merchantId, caller, idempotencyKey, aheadMs, trace } = context
      const beginBy = monotonicNowMs() + limitMs
      const asked = { operation: operation.declaration.name, merchantId, caller, idempotencyKey, aheadMs, input }
      const call = { id: ++lastId, ...asked, beginBy, ...(trace && { trace }) }
      enqueueCall({ call, isSent: false, resolve, reject })
    })
  }

  function ping(): Promise<void> {
    return new Promise((resolve, reject) => {
      const beginBy = monotonicNowMs() + pingTimeoutMs
      const call = {
        id: ++lastId,
        operation: pingOperation,
        merchantId: '',
        caller: systemCaller,
        idempotencyKey: null,
        aheadMs: 0,
        input: null,
        beginBy,
      }
      enqueueCall({ call, isSent: false, resolve, reject })
    })
  }

  function enqueueCall(pending: PendingCall): void {
    waiting.set(pending.call.id, pending)
    sendCall(pending)
  }

  connectSocket()
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

function domainErrorFrom({
  refusal: { code, message, details },
  cause,
}: Extract<WriterReply, { refusal: unknown }>): DomainError {
  return Object.assign(new DomainError(code, message, details), cause !== undefined && { cause })
}

function isNestedBeyond(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isNestedBeyond(levels - 1, each))
}
