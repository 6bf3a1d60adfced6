import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { DomainError, unavailable, unknownOutcome } from '../../core/errors.ts'
import { maxQueuedWrites, monotonicNowMs, writeQueueFull, writeTimeoutMs } from '../../database/group-commit.ts'
import { systemCaller } from '../../operations/access/api-caller.ts'
import type { Perform } from '../../operations/context.ts'
import type { ChannelSend } from './channel.ts'
import { openChannel } from './channel.ts'
import { pingOperation } from './messages.ts'
import type { WriterCall, WriterReply } from './writer.ts'

/** If there has been no writer process for `reconnectTimeoutMs`, calls are rejected instead of waiting. */
const reconnectDelayMs = 20
const reconnectTimeoutMs = 5_000

const overdueCheckIntervalMs = 250
const pingTimeoutMs = 1_000

const maxInputNesting = 3

type PendingCall = {
  readonly call: WriterCall
  isSent: boolean
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export type RemoteWriter = {
  readonly perform: Perform
  /** @throws DomainError UNAVAILABLE if the writer does not reply within `pingTimeoutMs` */
  readonly ping: () => Promise<void>
  readonly close: () => void
}

/**
 * If the writer process dies, unsent calls are sent to the next writer process. The next writer process also gets the
 * sent calls that have an idempotency key, because the key makes a repetition safe. Sent calls without an idempotency
 * key, and sent calls that exceed `timeoutMs`, are rejected with UNAVAILABLE and an unknown outcome.
 *
 * @param onReply called before the caller gets the result, so that the caller can read its own write
 * @param timeoutMs the maximum wait of a call, checked every `overdueCheckIntervalMs`
 */
export function connectToWriter(path: string, onReply: () => void, timeoutMs = writeTimeoutMs): RemoteWriter {
  const pendingCalls = new Map<number, PendingCall>()
  let lastId = 0
  let socket: Socket | null = null
  let send: ChannelSend | null = null
  let disconnectedAt = performance.now()
  let isClosed = false
  const overdueTimer = setInterval(rejectOverdueCalls, overdueCheckIntervalMs).unref()

  function connectSocket(): void {
    if (isClosed) return
    socket = connect(path)
    socket.on('connect', () => {
      send = openChannel(socket as Socket, handleReply)
      for (const pending of pendingCalls.values()) sendCall(pending)
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
    if (send !== null) disconnectedAt = performance.now()
    send = null
    const isTimedOut = performance.now() - disconnectedAt > reconnectTimeoutMs
    for (const pending of pendingCalls.values()) {
      if (pending.isSent && pending.call.idempotencyKey === null) rejectCall(pending, unknownOutcome(null))
      else if (isTimedOut) rejectCall(pending, unavailable())
    }
  }

  function rejectOverdueCalls(): void {
    const now = monotonicNowMs()
    for (const pending of pendingCalls.values()) if (pending.call.deadlineMs < now) rejectOverdue(pending)
  }

  function rejectOverdue(pending: PendingCall): void {
    rejectCall(
      pending,
      pending.isSent ? unknownOutcome(new Error('the writer process did not reply in time')) : unavailable(),
    )
  }

  /** A ping changes nothing, so the error of a ping does not mention an unknown outcome. */
  function rejectCall({ call, reject }: PendingCall, error: unknown): void {
    pendingCalls.delete(call.id)
    reject(call.operation === pingOperation ? unavailable('The writer process does not respond.') : error)
  }

  function handleReply(reply: WriterReply): void {
    const pending = pendingCalls.get(reply.id)
    if (!pending) return
    pendingCalls.delete(reply.id)
    onReply()
    if ('result' in reply) pending.resolve(reply.result as never)
    else if ('domainError' in reply) pending.reject(domainErrorFrom(reply))
    else pending.reject(reply.error)
  }

  const perform: Perform = (operation, context, input) => {
    // The operation rejects an input that is nested deeper than `maxInputNesting`. An input with deep nesting is not
    // sent to the writer, because its serialization could overflow the stack.
    if (isNestedBeyond(maxInputNesting, input)) return operation(context, input)
    return new Promise((resolve, reject) => {
      if (pendingCalls.size >= maxQueuedWrites) throw writeQueueFull()
      const { merchantId, caller, idempotencyKey, aheadMs, trace } = context
      const deadlineMs = monotonicNowMs() + timeoutMs
      const details = { operation: operation.declaration.name, merchantId, caller, idempotencyKey, aheadMs, input }
      const call = { id: ++lastId, ...details, deadlineMs, ...(trace && { trace }) }
      enqueueCall({ call, isSent: false, resolve, reject })
    })
  }

  function ping(): Promise<void> {
    return new Promise((resolve, reject) => {
      const deadlineMs = monotonicNowMs() + pingTimeoutMs
      const call = {
        id: ++lastId,
        operation: pingOperation,
        merchantId: '',
        caller: systemCaller,
        idempotencyKey: null,
        aheadMs: 0,
        input: null,
        deadlineMs,
      }
      enqueueCall({ call, isSent: false, resolve, reject })
    })
  }

  function enqueueCall(pending: PendingCall): void {
    pendingCalls.set(pending.call.id, pending)
    sendCall(pending)
  }

  connectSocket()
  return {
    perform,
    ping,
    close: () => {
      clearInterval(overdueTimer)
      isClosed = true
      socket?.destroy()
    },
  }
}

function domainErrorFrom({
  domainError: { code, message, details },
  cause,
}: Extract<WriterReply, { domainError: unknown }>): DomainError {
  return Object.assign(new DomainError(code, message, details), cause !== undefined && { cause })
}

function isNestedBeyond(maxDepth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return maxDepth === 0 || Object.values(value).some((nested) => isNestedBeyond(maxDepth - 1, nested))
}
