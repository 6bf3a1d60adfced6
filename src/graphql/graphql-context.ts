import type { OperationDefinitionNode } from 'graphql'
import type { Context } from '../context.ts'
import type { ErrorCode } from '../errors.ts'

/** Told of what is run and of what is refused as a value, for whoever writes the log. */
export type Watching = {
  readonly onOperation?: (operation: OperationDefinitionNode) => void
  readonly onRefusal?: (code: ErrorCode) => void
}

/** What a resolver works with: an operation's context, and what this request has loaded already. */
export type GraphqlContext = Context &
  Watching & {
    /** The same, for what only resolvers will look at: rows have the columns that the document's fields need. */
    readonly rows: Context
    /** Loaders of this request by what they load; see `loader.ts`. */
    readonly loaders: Map<object, unknown>
    /** Set where the request's only mutation may be asked for twice, once by each executor. */
    mutation: MutationOnce | null
  }

/** A mutation that is done once: with what input, and what came of it once it was begun. */
export type MutationOnce = { readonly input: unknown; outcome: Promise<unknown> | null }
