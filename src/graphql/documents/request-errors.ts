import { GraphQLError } from 'graphql'
import { limits } from './limits.ts'

/** Why the engine itself refuses a request. */
type RequestErrorCode =
  | 'INVALID_DOCUMENT'
  | 'QUERY_TOO_COMPLEX'
  | 'INVALID_INPUT'
  | 'METHOD_NOT_ALLOWED'
  | 'INSUFFICIENT_SCOPE'
  | 'DOCUMENT_NOT_TRUSTED'
  | 'PERSISTED_DOCUMENT_NOT_FOUND'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'PERSISTED_QUERY_NOT_SUPPORTED'

/** A refusal of the engine's own. */
export function requestError(code: RequestErrorCode, message: string): GraphQLError {
  return new GraphQLError(truncate(message), { extensions: { code } })
}

/** What graphql-js finds wrong with a document; where it gives up before it has seen all, that is a limit too. */
export function invalidDocumentError(error: GraphQLError): GraphQLError {
  if (error.message.startsWith('Syntax Error: Document contains more than')) {
    return requestError('QUERY_TOO_COMPLEX', `A query may have at most ${limits.tokens} tokens.`)
  }
  if (error.message === 'Validation aborted.') {
    return requestError('QUERY_TOO_COMPLEX', 'A query may not select the same fields so often.')
  }
  return withCode(error, 'INVALID_DOCUMENT')
}

/** Characters of a message: it may repeat what was given, and that may be all of the request. */
const maxMessageLength = 500

function truncate(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message
}

/** An error of graphql-js under a code of ours, where it stands in the document. */
export function withCode(error: GraphQLError, code: RequestErrorCode): GraphQLError {
  const { message, nodes, source, positions, path } = error
  return new GraphQLError(truncate(message), { nodes, source, positions, path, extensions: { code } })
}
