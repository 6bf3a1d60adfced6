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

/** How long the readers, which end first, and the rest of the end are waited for. */
const shutdownTimeoutMs = 9_000

/**
 * An operation that is handed over: `id` is the sender's, and comes back with the answer. `beginBy` is the moment of
 * `machineClock` after which nobody waits for it any more, and it is not begun.
 */
export type WriterCall = {
  readonly id: number
  readonly operation: string
  readonly merchantId: string
  readonly caller: Caller
  readonly idempotencyKey: string | null
  readonly aheadMs: number
  readonly input: unknown
  readonly beginBy: number
  readonly trace?: TraceContext
}

/** What became of it. `refusal` is what a Refusal is made of, `fault` an error that is none. */
export type WriterReply = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly refusal: Pick<DomainError, 'code' | 'message' | 'details'>; readonly cause: unknown }
  | { readonly fault: unknown }
)

/**
 * Writes for the processes that answer requests, until the supervisor is gone or needs it no more.
 *
 * Signals are not heeded: whoever sends them sends them to all processes, and those that answer need this one to the end.
 */
export async function runWriter(config: Config, { writerPath }: WriterArgs): Promise<void> {
  // Asked for before anything else: a supervisor that dies while this process starts leaves it to itself as well.
  const left = new Promise<void>((resolve) => {
    if (process.connected) process.once('disconnect', resolve)
    else resolve()
  })
  const measured = await setUpWorkerMetrics(config)
  const started = await startProcess(config, { role: 'writer', onCommitted: measured.onCommitted })
  const measuring = await instrumentTracing(measured, started, 'writer')
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
  started.logger.info({ mode: config.mode }, 'ready to write')
  process.on('SIGTERM', () => {})
  process.on('SIGINT', () => {})
  left.then(() => {
    const close = async () => {
      await Promise.all([new Promise((resolve) => server.close(resolve)), backups.stop()])
      await measuring.shutdown()
      // A supervisor that was killed leaves the folder that it made.
      rmSync(dirname(writerPath), { recursive: true, force: true })
    }
    shutDown(started, { close, withinMs: shutdownTimeoutMs })
  })
  startHeartbeat()
  sendToSupervisor({ ready: '' })
}

/** Runs the operations that other processes hand over at `path`; it is the only one that writes to the database file. */
export function listenForCalls(service: Service, path: string): Promise<Server> {
  const server = createServer((socket) => handleWriterConnection(service, socket))
  // One that was killed leaves its socket behind, and there is never more than one.
  rmSync(path, { force: true })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

function handleWriterConnection(service: Service, socket: Socket): void {
  const send = openChannel(socket, (call: WriterCall) => {
    const bounded = { ...service, db: withDeadline(service.db, call.beginBy), ...(call.trace && { trace: call.trace }) }
    const context = createContext(bounded, call.merchantId, call.idempotencyKey, call.aheadMs, call.caller)
    performCall(context, call).then((outcome) => send({ id: call.id, ...outcome }))
  })
  // Whoever is gone gets no answer; what it handed over is done or not, and its own caller can't know either.
  socket.on('error', () => {})
}

async function performCall(context: Context, { operation, input, beginBy }: WriterCall) {
  try {
    // What lay in the socket while this process was stopped; the database looks again when its turn has come.
    if (beginBy < monotonicNowMs()) throw deadlineExceeded()
    if (operation === pingOperation) return { result: await context.db.ping() }
    if (!Object.hasOwn(operations, operation)) throw new Error(`the writer has no operation ${operation}`)
    const run = operations[operation as OperationName]
    return { result: await context.perform(run, context, input as never) }
  } catch (error) {
    if (!(error instanceof DomainError)) return { fault: error }
    const { code, message, details, cause } = error
    return { refusal: { code, message, details }, cause }
  }
}
