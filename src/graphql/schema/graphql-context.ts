import type { OperationDefinitionNode } from 'graphql'
import type { ErrorCode } from '../../core/errors.ts'
import type { Context } from '../../operations/context.ts'

export type ExecutionObserver = {
  readonly onOperation?: (operation: OperationDefinitionNode, isTrusted: boolean) => void
  /** Called for an error that is returned as a value, in a mutation's result union. */
  readonly onUserError?: (code: ErrorCode) => void
  /** Called if a plan failed but graphql-js succeeded: a planner bug, or a transient error. */
  readonly onPlanFault?: (error: unknown) => void
}

/** `lastEventId` is the last event that a reconnecting client received. */
export type StreamPosition = { readonly lastEventId: string | null; latestEventId: string | null }

export type GraphqlContext = Context &
  ExecutionObserver & {
    readonly loaders: Map<object, unknown>
    readonly stream?: StreamPosition
  }
