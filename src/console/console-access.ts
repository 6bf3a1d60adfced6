import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TrustedProxies } from '../server/http/caller-address.ts'
import type { ConsoleSession } from './console-session.ts'

declare module 'fastify' {
  interface FastifyRequest {
    consoleSession: ConsoleSession | null
  }
}

export type ConsoleAccess = {
  /** The prefix of every page's path; may be empty. */
  readonly basePath: string
  readonly originOf: (request: FastifyRequest) => string
  readonly trustedProxies: TrustedProxies
  /** Whether pages of other sites may link to the console. Requests from such links have no session. */
  readonly canBeLinkedTo: boolean
  readonly errorHint: string
  readonly findSession: (request: FastifyRequest) => Promise<ConsoleSession | null>
  readonly addRoutes: (app: FastifyInstance) => void
  /** Sends the same response for all paths. */
  readonly sendWithoutSession: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
  readonly sendEnded: (reply: FastifyReply) => FastifyReply
}

export function readCookie({ headers: { cookie = '' } }: FastifyRequest, name: string): string {
  const pair = cookie.split(/; */).find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) ?? ''
}
