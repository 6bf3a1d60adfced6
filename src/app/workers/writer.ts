import { rmSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { DomainError } from '../../core/errors.ts'
import { withDeadline } from '../../database/database.ts'
import { deadlineExceeded, monotonicNowMs } from '../../database/group-commit.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import type { Context, Service, TraceContext } from '../../operations/context.ts'
import { createContext, createService, performLocally } from '../../operations/context.ts'
import type { OperationName } from '../../operations/operation-name.ts'
import { operations } from '../../server/operations.ts'
import type { Config } from '../config.ts'
import { loadSecrets } from '../load-secrets.ts'
import { startBackupSchedule } from '../scheduled-backups.ts'
import { prepareDatabase, shutDown, startProcess, takeOverDatabase } from '../start.ts'
import { gaugeSource, instrumentTracing, setUpWorkerMetrics } from '../telemetry.ts'
import { openChannel } from './channel.ts'
import type { WriterArgs } from './messages.ts'
import { pingOperation, sendToSupervisor, startHeartbeat } from './messages.ts'

const shutdownTimeoutMs = 9_000

/**
 * `deadlineMs` is a time of the clock `monotonicNowMs`. A write operation must not begin after the deadline, because
 * the caller has stopped waiting.
 */
export type WriterCall = {
  readonly id: number
  readonly operation: string
  readonly merchantId: string
  readonly caller: Caller
  readonly idempotencyKey: string | null
  readonly aheadMs: number
  readonly input: unknown
  readonly deadlineMs: number
  readonly trace?: TraceContext
}

export type WriterReply = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly domainError: Pick<DomainError, 'code' | 'message' | 'details'>; readonly cause: unknown }
  | { readonly error: unknown }
)

/**
 * The writer process ends when the supervisor ends. The writer process ignores signals, because reader processes need a
 * writer until they end.
 */
export async function runWriter(config: Config, { writerPath }: WriterArgs): Promise<void> {
  // The handler for `disconnect` is registered first, because the supervisor may die while this process starts.
  const disconnected = new Promise<void>((resolve) => {
    if (process.connected) process.once('disconnect', resolve)
    else resolve()
  })
  const metrics = await setUpWorkerMetrics(config)
  const started = await startProcess(config, { role: 'writer', onCommitted: metrics.onCommitted })
  const measuring = await instrumentTracing(metrics, started, 'writer')
  const { mode, webhookAllowed } = config
  const service = createService({
    db: measuring.wrapDatabase(started.db),
    mode,
    webhookAllowed,
    secrets: loadSecrets(config, mode),
    perform: measuring.wrapPerform(performLocally),
  })
  measuring.observeDatabase(gaugeSource(service, [], started.logger))
  await prepareDatabase(service)
  takeOverDatabase(started)
  const server = await listenForCalls(service, writerPath)
  const backups = startBackupSchedule(config, service, started.logger)
  started.logger.info({ mode: config.mode }, 'writer is ready')
  process.on('SIGTERM', () => {})
  process.on('SIGINT', () => {})
  disconnected.then(() => {
    const close = async () => {
      await Promise.all([new Promise((resolve) => server.close(resolve)), backups.stop()])
      await measuring.shutdown()
      // If the supervisor was killed, the writer removes the folder of the socket.
      rmSync(dirname(writerPath), { recursive: true, force: true })
    }
    shutDown(started, { close, withinMs: shutdownTimeoutMs })
  })
  startHeartbeat()
  sendToSupervisor({ ready: '' })
}

export function listenForCalls(service: Service, path: string): Promise<Server> {
  const server = createServer((socket) => handleWriterConnection(service, socket))
  // Removes the socket file of a writer process that was killed.
  rmSync(path, { force: true })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

function handleWriterConnection(service: Service, socket: Socket): void {
  const send = openChannel(socket, (call: WriterCall) => {
    const bounded = {
      ...service,
      db: withDeadline(service.db, call.deadlineMs),
      ...(call.trace && { trace: call.trace }),
    }
    const context = createContext(bounded, call.merchantId, call.idempotencyKey, call.aheadMs, call.caller)
    performCall(context, call).then((outcome) => send({ id: call.id, ...outcome }))
  })
  // If a reader disconnects, its write operations still complete.
  socket.on('error', () => {})
}

async function performCall(context: Context, { operation, input, deadlineMs }: WriterCall) {
  try {
    // If the writer process was suspended, the deadline of the call may have passed.
    if (deadlineMs < monotonicNowMs()) throw deadlineExceeded()
    if (operation === pingOperation) return { result: await context.db.ping() }
    if (!Object.hasOwn(operations, operation))
      throw new Error(`the writer process does not know the operation ${operation}`)
    const run = operations[operation as OperationName]
    return { result: await context.perform(run, context, input as never) }
  } catch (error) {
    if (!(error instanceof DomainError)) return { error }
    const { code, message, details, cause } = error
    return { domainError: { code, message, details }, cause }
  }
}
