import type { Connection, FieldDef, Submittable } from 'pg'
import { serialize } from 'pg-protocol'
import { isWarning } from './failover.ts'

export type PipelineStep = {
  readonly name: string
  readonly text: string | null
  readonly values: readonly (string | null)[] | null
  readonly toRow: ((values: (string | null)[]) => unknown) | null
}

export type StepResult = {
  readonly rows: unknown[]
  command: string
  hasWarning: boolean
  parameterTypes: readonly number[]
  fields: readonly FieldDef[]
}

export type StatementPipeline = Submittable & {
  readonly results: Promise<readonly StepResult[]>
  readonly preparedNames: () => readonly string[]
}

/**
 * Sends all steps in one round trip, with one Sync.
 *
 * With one Sync, the server skips the steps after a failed step. Outside of a transaction, the steps are one implicit
 * transaction. The package pg can also send a pipeline, but sends a Sync after each statement. If the step for
 * row-level security failed, the later statements would run without row-level security.
 *
 * @param closed prepared statements to close first
 */
export function statementPipeline(steps: readonly PipelineStep[], closed: readonly string[]): StatementPipeline {
  const results: StepResult[] = steps.map(() => ({
    rows: [],
    command: '',
    hasWarning: false,
    parameterTypes: [],
    fields: [],
  }))
  const { promise, resolve, reject } = Promise.withResolvers<readonly StepResult[]>()
  const parsed = steps.filter(({ text }) => text !== null)
  let index = 0
  let preparedCount = 0
  let removeListeners = () => {}

  const current = () => results[index] as StepResult
  const handlers = {
    submit(connection: Connection) {
      removeListeners = addListeners(connection, {
        parseComplete: () => void preparedCount++,
        parameterDescription: ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
          current().parameterTypes = dataTypeIDs
        },
        noData: () => void index++,
        notice: ({ code }: { code?: string }) => {
          if (isWarning(code)) current().hasWarning = true
        },
      })
      connection.stream.write(encodeMessages(steps, closed))
    },
    handleRowDescription({ fields }: { fields: FieldDef[] }) {
      current().fields = fields
      index++
    },
    handleDataRow({ fields }: { fields: (string | null)[] }) {
      const toRow = steps[index]?.toRow
      if (toRow) current().rows.push(toRow(fields))
    },
    handleCommandComplete({ text }: { text: string }) {
      current().command = text
      index++
    },
    handleEmptyQuery: () => void index++,
    handleError(error: Error) {
      removeListeners()
      reject(error)
    },
    handleReadyForQuery() {
      removeListeners()
      resolve(results)
    },
  }
  return { ...handlers, results: promise, preparedNames: () => parsed.slice(0, preparedCount).map(({ name }) => name) }
}

// biome-ignore lint/suspicious/noExplicitAny: each event has its own type of message.
function addListeners(connection: Connection, listeners: Record<string, (message: any) => void>): () => void {
  for (const [event, listener] of Object.entries(listeners)) connection.on(event, listener)
  return () => {
    for (const [event, listener] of Object.entries(listeners)) connection.off(event, listener)
  }
}

/** Writes one buffer, because writing many small buffers takes longer than the rest of a payout. */
function encodeMessages(steps: readonly PipelineStep[], closed: readonly string[]): Buffer {
  const messages = closed.map((name) => serialize.close({ type: 'S', name }))
  for (const { name, text, values } of steps) {
    if (text !== null) messages.push(serialize.parse({ name, text }))
    if (values === null) messages.push(serialize.describe({ type: 'S', name }))
    else messages.push(serialize.bind({ statement: name, values: values as string[] }), serialize.execute())
  }
  return Buffer.concat([...messages, serialize.sync()])
}
