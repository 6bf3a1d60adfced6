import type { GraphQLSchema } from 'graphql'
import { createLogger } from '../../../src/app/logger.ts'
import type { Executor } from '../../../src/graphql/execution/engine.ts'
import { createEngine } from '../../../src/graphql/execution/engine.ts'
import { executeRequest, serializeResult } from '../../../src/graphql/execution/execute.ts'
import { systemCaller } from '../../../src/operations/access/api-caller.ts'
import type { Service } from '../../../src/operations/context.ts'
import { responseHeadOf } from '../../../src/server/graphql/graphql-over-http.ts'
import { sandboxSchema } from '../../../src/server/graphql/schema.ts'

export type RequestDocument = {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly operationName?: string | null
}

/** A response: its status, its bytes and its path. */
export type PathAnswer = {
  readonly text: string
  readonly isPlanned: boolean
  readonly hasErrors: boolean
}

/** Runs a document on the engine as one merchant. */
export type AskOneWay = (document: RequestDocument) => Promise<PathAnswer>

/** Runs documents on one service's engine with each executor, as the endpoint does. */
export function bothWays(service: Service, merchantId: string, schema: GraphQLSchema = sandboxSchema) {
  const log = createLogger('silent', { write: () => {} })
  const askWith = (executor: Executor): AskOneWay => {
    const engine = createEngine(schema, { executor })
    return async ({ query, variables = {}, operationName = null }) => {
      const request = { service, engine, merchantId, caller: systemCaller, requestId: 'same', log }
      const answered = await executeRequest({ query, variables, operationName }, request)
      if (!answered) throw new Error('a subscription has many answers')
      const { result } = answered
      const { status } = responseHeadOf(result, 'application/graphql-response+json')
      return {
        text: `${status} ${serializeResult(result)}`,
        isPlanned: result.dataText !== undefined,
        hasErrors: result.errors !== undefined,
      }
    }
  }
  return { planned: askWith('planned'), reference: askWith('reference') }
}

/** The outcome of documents that ran with both executors. */
export type ExecutionComparison = {
  count: number
  planned: number
  withErrors: number
  /** Valid documents that no plan executed. */
  readonly unplanned: RequestDocument[]
  /** Documents with different responses, and both responses. */
  readonly different: { readonly document: RequestDocument; readonly texts: readonly string[] }[]
}

/** Runs up to this many documents with both executors, and stops after a few differences. */
export async function compareWays(
  { planned, reference }: ReturnType<typeof bothWays>,
  documents: Iterator<RequestDocument, never>,
  count: number,
): Promise<ExecutionComparison> {
  const seen: ExecutionComparison = { count: 0, planned: 0, withErrors: 0, unplanned: [], different: [] }
  while (seen.count < count && seen.different.length < 3) {
    const document = documents.next().value
    const one = await planned(document)
    const other = await reference(document)
    seen.count++
    if (one.isPlanned) seen.planned++
    if (one.hasErrors) seen.withErrors++
    if (!one.isPlanned && !one.hasErrors) seen.unplanned.push(document)
    if (one.text !== other.text) seen.different.push({ document, texts: [one.text, other.text] })
  }
  return seen
}
