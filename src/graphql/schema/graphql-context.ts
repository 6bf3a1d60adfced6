import type { OperationDefinitionNode } from 'graphql'
import type { ErrorCode } from '../../core/errors.ts'
import type { Context } from '../../operations/context.ts'

export type ExecutionObserver = {
  readonly onOperation?: (operation: OperationDefinitionNode, isTrusted: boolean) => void
  /** `onUserError` is called for an error that is a member of a mutation's result union. */
  readonly onUserError?: (code: ErrorCode) => void
  /** `onPlanFault` is called if a plan failed but graphql-js succeeded: a planner bug, or a transient error. */
  readonly onPlanFault?: (error: unknown) => void
}

export type StreamPosition = { readonly lastEventId: string | null; latestEventId: string | null }

export type GraphqlContext = Context &
  ExecutionObserver & {
    readonly loaders: Map<object, unknown>
    readonly stream?: StreamPosition
  }
