import type { OperationDefinitionNode } from 'graphql'
import type { ErrorCode } from '../../core/errors.ts'
import type { Context } from '../../operations/context.ts'

/** Callbacks that collect what is logged of a request. */
export type ExecutionObserver = {
  readonly onOperation?: (operation: OperationDefinitionNode, isTrusted: boolean) => void
  /** Called with the code of an error that is returned as a value, in a mutation's result union. */
  readonly onUserError?: (code: ErrorCode) => void
  /** Called if a plan failed and graphql-js then succeeded: a bug of the planner, or a transient error. */
  readonly onPlanFault?: (error: unknown) => void
}

/** Position of an event stream: the last event that the client reports, and the last one sent. */
export type StreamPosition = { readonly lastEventId: string | null; latestEventId: string | null }

export type GraphqlContext = Context &
  ExecutionObserver & {
    /** Loaders of this request, by what they load (`loader.ts`). */
    readonly loaders: Map<object, unknown>
    readonly stream?: StreamPosition
  }
