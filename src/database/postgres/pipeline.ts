import type { Connection, FieldDef, Submittable } from 'pg'
import { serialize } from 'pg-protocol'
import { isWarning } from './failover.ts'

/** One step of a batch: a prepared statement run with values, or (`values` null) only described. */
export type PipelineStep = {
  /** The name under which the connection keeps the statement. */
  readonly name: string
  /** Its text where this connection has not prepared it yet. */
  readonly text: string | null
  readonly values: readonly (string | null)[] | null
  readonly toRow: ((values: (string | null)[]) => unknown) | null
}

/** What a step answered: rows and the server's word for what it did, or of one described its types. */
export type StepResult = {
  readonly rows: unknown[]
  command: string
  /** Whether the server warned of what it did. */
  hasWarning: boolean
  parameterTypes: readonly number[]
  fields: readonly FieldDef[]
}

/** The steps of a batch, and which of the texts that it sent the server took. */
export type StatementPipeline = Submittable & {
  readonly results: Promise<readonly StepResult[]>
  readonly preparedNames: () => readonly string[]
}

/**
 * Sends all steps in one go, ended by one Sync, and reads their answers in one go: one round trip however many they are.
 *
 * Up to the Sync they are one transaction, unless one is open already; what follows a step that fails is not run. pg's
 * pipeline sends a Sync for each statement, so what follows a failed one would run, and the settings of row security would be gone.
 *
 * @param closed names of statements that the server need not keep; it forgets them before anything can fail
 */
export function statementPipeline(steps: readonly PipelineStep[], closed: readonly string[]): StatementPipeline {
  const answers: StepResult[] = steps.map(() => ({
    rows: [],
    command: '',
    hasWarning: false,
    parameterTypes: [],
    fields: [],
  }))
  const { promise, resolve, reject } = Promise.withResolvers<readonly StepResult[]>()
  const sent = steps.filter(({ text }) => text !== null)
  let place = 0
  let preparedCount = 0
  let forget = () => {}

  const current = () => answers[place] as StepResult
  const handlers = {
    submit(connection: Connection) {
      forget = addListeners(connection, {
        parseComplete: () => void preparedCount++,
        parameterDescription: ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
          current().parameterTypes = dataTypeIDs
        },
        noData: () => void place++,
        notice: ({ code }: { code?: string }) => {
          if (isWarning(code)) current().hasWarning = true
        },
      })
      connection.stream.write(encodeMessages(steps, closed))
    },
    handleRowDescription({ fields }: { fields: FieldDef[] }) {
      current().fields = fields
      place++
    },
    handleDataRow({ fields }: { fields: (string | null)[] }) {
      const toRow = steps[place]?.toRow
      if (toRow) current().rows.push(toRow(fields))
    },
    handleCommandComplete({ text }: { text: string }) {
      current().command = text
      place++
    },
    handleEmptyQuery: () => void place++,
    handleError(error: Error) {
      forget()
      reject(error)
    },
    handleReadyForQuery() {
      forget()
      resolve(answers)
    },
  }
  return { ...handlers, results: promise, preparedNames: () => sent.slice(0, preparedCount).map(({ name }) => name) }
}

// biome-ignore lint/suspicious/noExplicitAny: each event has its own message.
function addListeners(connection: Connection, listeners: Record<string, (message: any) => void>): () => void {
  for (const [event, listener] of Object.entries(listeners)) connection.on(event, listener)
  return () => {
    for (const [event, listener] of Object.entries(listeners)) connection.off(event, listener)
  }
}

/**
 * What a client says to run steps, in PostgreSQL's protocol 3.0: Parse, Describe, Bind and Execute of each, and one Sync; first a
 * Close for each statement that is of no more use. In one buffer, because a write of many small ones costs more than the rest of a payout.
 */
function encodeMessages(steps: readonly PipelineStep[], closed: readonly string[]): Buffer {
  const messages = closed.map((name) => serialize.close({ type: 'S', name }))
  for (const { name, text, values } of steps) {
    if (text !== null) messages.push(serialize.parse({ name, text }))
    if (values === null) messages.push(serialize.describe({ type: 'S', name }))
    else messages.push(serialize.bind({ statement: name, values: values as string[] }), serialize.execute())
  }
  return Buffer.concat([...messages, serialize.sync()])
}
