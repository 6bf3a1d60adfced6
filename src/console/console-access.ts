import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TrustedProxies } from '../server/http/caller-address.ts'
import type { ConsoleSession } from './console-session.ts'

declare module 'fastify' {
  interface FastifyRequest {
    consoleSession: ConsoleSession | null
  }
}

export type ConsoleAccess = {
  /** The prefix of the URL path of every console page; may be empty. */
  readonly basePath: string
  readonly originOf: (request: FastifyRequest) => string
  readonly trustedProxies: TrustedProxies
  /** Whether pages of other sites may link to the console. Requests from links of other sites have no session. */
  readonly canBeLinkedTo: boolean
  readonly errorHint: string
  readonly findSession: (request: FastifyRequest) => Promise<ConsoleSession | null>
  readonly addRoutes: (app: FastifyInstance) => void
  /** Responds alike on every path if the request has no session. */
  readonly sendWithoutSession: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
  readonly sendEnded: (reply: FastifyReply) => FastifyReply
}

export function readCookie({ headers: { cookie = '' } }: FastifyRequest, name: string): string {
  const pair = cookie.split(/; */).find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) ?? ''
}
