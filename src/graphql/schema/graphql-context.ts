import type { OperationDefinitionNode } from 'graphql'
import type { ErrorCode } from '../../core/errors.ts'
import type { Context } from '../../operations/context.ts'

/** Told of what is run, and whether it is of a trusted document, of what is refused as a value and of what goes wrong unseen, for whoever writes the log. */
export type ExecutionObserver = {
  readonly onOperation?: (operation: OperationDefinitionNode, isTrusted: boolean) => void
  readonly onRefusal?: (code: ErrorCode) => void
  /** Told of what stopped a plan, where graphql-js then found nothing wrong: the plan's own mistake, or a moment's trouble. */
  readonly onPlanFault?: (error: unknown) => void
}

/** Where a stream is: what its caller says that it had last, and what it was told last. */
export type StreamPosition = { readonly lastEventId: string | null; latestEventId: string | null }

/** What a resolver works with: an operation's context, and what this request has loaded already. */
export type GraphqlContext = Context &
  ExecutionObserver & {
    /** Loaders of this request by what they load; see `loader.ts`. */
    readonly loaders: Map<object, unknown>
    readonly stream?: StreamPosition
  }
