import { GraphQLError } from 'graphql'
import { limits } from './limits.ts'

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

export type RequestErrors = { readonly errors: readonly GraphQLError[] }

export function requestError(code: RequestErrorCode, message: string): GraphQLError {
  return new GraphQLError(truncate(message), { extensions: { code } })
}

/** Returns QUERY_TOO_COMPLEX if graphql-js stopped at one of its own limits, otherwise INVALID_DOCUMENT. */
export function invalidDocumentError(error: GraphQLError): GraphQLError {
  if (error.message.startsWith('Syntax Error: Document contains more than')) {
    return requestError('QUERY_TOO_COMPLEX', `A query may have at most ${limits.tokens} tokens.`)
  }
  if (error.message === 'Validation aborted.') {
    return requestError('QUERY_TOO_COMPLEX', 'The query selects the same fields too often.')
  }
  return withCode(error, 'INVALID_DOCUMENT')
}

export function costLimitError(cost: number): GraphQLError {
  return requestError(
    'QUERY_TOO_COMPLEX',
    `The query costs ${cost}, the limit is ${limits.cost}: its fields, each times the sizes of the lists that contain it.`,
  )
}

/** graphql-js can quote the whole request in an error message. */
const maxMessageLength = 500

function truncate(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message
}

export function withCode(error: GraphQLError, code: RequestErrorCode): GraphQLError {
  const { message, nodes, source, positions, path } = error
  return new GraphQLError(truncate(message), { nodes, source, positions, path, extensions: { code } })
}
