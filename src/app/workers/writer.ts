import { rmSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { Caller } from '../../callers/api-caller.ts'
import type { Context, Operation, Service, Trace } from '../../context.ts'
import { createContext, createService, performHere } from '../../context.ts'
import { closeCustomer } from '../../customers/close-customer.ts'
import { createCustomer } from '../../customers/create-customer.ts'
import { updateCustomer } from '../../customers/update-customer.ts'
import { beginningBy } from '../../database/database.ts'
import { machineClock, tooLate } from '../../database/deadline.ts'
import { numberAddresses } from '../../deposits/list-watched-addresses.ts'
import { reportDeposit } from '../../deposits/report-deposit.ts'
import { pruneDeliveries } from '../../dispatch/prune-log.ts'
import { recordAttempts } from '../../dispatch/record-attempts.ts'
import { Refusal } from '../../errors.ts'
import { recordKeyUse } from '../../merchants/authenticate.ts'
import { simulatePayout } from '../../payouts/simulate-payout.ts'
import { advanceClock } from '../../rails/advance-clock.ts'
import { beginCall } from '../../rails/begin-call.ts'
import { cancelPayout } from '../../rails/cancel-payout.ts'
import { hastenQuestions } from '../../rails/hasten-questions.ts'
import { endReports, followReport, keepReports } from '../../rails/receive-reports.ts'
import { recordAnswer } from '../../rails/record-answer.ts'
import { resolveAttention } from '../../rails/resolve-attention.ts'
import { storeSeal } from '../../seals/store-seal.ts'
import { routes } from '../../server/rest-routes.ts'
import { simulateDeposit } from '../../wallets/simulate-deposit.ts'
import type { Config } from '../config.ts'
import { lookedInto, measuringForSupervisor } from '../metering.ts'
import { startBackups } from '../scheduled-backups.ts'
import { secretsOf } from '../secrets-of.ts'
import { end, prepare, start, takeOver } from '../start.ts'
import { withTracing } from '../tracing.ts'
import { channelOver } from './channel.ts'
import type { WriterDetails } from './messages.ts'
import { beatForSupervisor, pingCall, tellSupervisor } from './messages.ts'

/** How long the readers, which end first, and the rest of the end are waited for. */
const endTimeoutMs = 9_000

/** Every operation that a door has performed, by its name: those of the endpoints, and those that have none. */
export const operations = new Map(
  [
    ...routes.flatMap(({ performs }) => performs ?? []),
    closeCustomer,
    advanceClock,
    beginCall,
    cancelPayout,
    createCustomer,
    endReports,
    followReport,
    hastenQuestions,
    keepReports,
    numberAddresses,
    pruneDeliveries,
    recordAnswer,
    recordAttempts,
    recordKeyUse,
    reportDeposit,
    resolveAttention,
    simulateDeposit,
    simulatePayout,
    storeSeal,
    updateCustomer,
  ].map((operation) => [operation.name, operation as Operation<unknown, unknown>]),
)

/**
 * An operation that is handed over: `id` is the sender's, and comes back with the answer. `beginBy` is the moment of
 * `machineClock` after which nobody waits for it any more, and it is not begun.
 */
export type Call = {
  readonly id: number
  readonly operation: string
  readonly merchantId: string
  readonly caller: Caller
  readonly idempotencyKey: string | null
  readonly aheadMs: number
  readonly input: unknown
  readonly beginBy: number
  readonly trace?: Trace
}

/** What became of it. `refusal` is what a Refusal is made of, `fault` an error that is none. */
export type Answer = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly refusal: Pick<Refusal, 'code' | 'message' | 'details'>; readonly cause: unknown }
  | { readonly fault: unknown }
)

/**
 * Writes for the processes that answer requests, until the supervisor is gone or needs it no more.
 *
 * Signals are not heeded: whoever sends them sends them to all processes, and those that answer need this one to the end.
 */
export async function write(config: Config, { writerPath }: WriterDetails): Promise<void> {
  // Asked for before anything else: a supervisor that dies while this process starts leaves it to itself as well.
  const left = new Promise<void>((resolve) => {
    if (process.connected) process.once('disconnect', resolve)
    else resolve()
  })
  const measured = await measuringForSupervisor(config)
  const started = await start(config, { role: 'writer', onCommitted: measured.onCommitted })
  const measuring = await withTracing(measured, started, 'writer')
  const { mode, webhookAllowed } = config
  const service = createService({
    db: measuring.database(started.db),
    mode,
    webhookAllowed,
    secrets: secretsOf(config, mode),
    perform: measuring.perform(performHere),
  })
  measuring.lookInto(lookedInto(service, [], started.logger))
  await prepare(service)
  takeOver(started)
  const server = await listenForCalls(service, writerPath)
  const backups = startBackups(config, service, started.logger)
  started.logger.info({ mode: config.mode }, 'ready to write')
  process.on('SIGTERM', () => {})
  process.on('SIGINT', () => {})
  left.then(() => {
    const close = async () => {
      await Promise.all([new Promise((resolve) => server.close(resolve)), backups.stop()])
      await measuring.end()
      // A supervisor that was killed leaves the folder that it made.
      rmSync(dirname(writerPath), { recursive: true, force: true })
    }
    end(started, { close, withinMs: endTimeoutMs })
  })
  beatForSupervisor()
  tellSupervisor({ ready: '' })
}

/** Runs the operations that other processes hand over at `path`; it is the only one that writes to the database file. */
export function listenForCalls(service: Service, path: string): Promise<Server> {
  const server = createServer((socket) => takeCalls(service, socket))
  // One that was killed leaves its socket behind, and there is never more than one.
  rmSync(path, { force: true })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

function takeCalls(service: Service, socket: Socket): void {
  const send = channelOver(socket, (call: Call) => {
    const bounded = { ...service, db: beginningBy(service.db, call.beginBy), ...(call.trace && { trace: call.trace }) }
    const context = createContext(bounded, call.merchantId, call.idempotencyKey, call.aheadMs, call.caller)
    outcomeOf(context, call).then((outcome) => send({ id: call.id, ...outcome }))
  })
  // Whoever is gone gets no answer; what it handed over is done or not, and its own caller can't know either.
  socket.on('error', () => {})
}

async function outcomeOf(context: Context, { operation, input, beginBy }: Call) {
  try {
    // What lay in the socket while this process was stopped; the database looks again when its turn has come.
    if (beginBy < machineClock()) throw tooLate()
    if (operation === pingCall) return { result: await context.db.ping() }
    const run = operations.get(operation)
    if (!run) throw new Error(`${operation} is no operation that is handed over`)
    return { result: await context.perform(run, context, input) }
  } catch (error) {
    if (!(error instanceof Refusal)) return { fault: error }
    const { code, message, details, cause } = error
    return { refusal: { code, message, details }, cause }
  }
}
