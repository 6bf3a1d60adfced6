import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TrustedProxies } from '../server/http/caller-address.ts'
import type { ConsoleSession } from './console-session.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for every request to a page. */
    consoleSession: ConsoleSession | null
  }
}

/** How a browser gets a session: by a link on this machine, or by the sign-in of a named operator. */
export type ConsoleAccess = {
  /** The prefix of every page's path; may be empty. */
  readonly basePath: string
  /** The origin that browsers see: scheme, host and port. */
  readonly originOf: (request: FastifyRequest) => string
  readonly trustedProxies: TrustedProxies
  /** Whether pages of other sites may link to the console. Requests from such links have no session. */
  readonly canBeLinkedTo: boolean
  /** Where an operator finds the error of a page that failed. */
  readonly errorHint: string
  readonly findSession: (request: FastifyRequest) => Promise<ConsoleSession | null>
  /** Adds the routes that need no session. */
  readonly addRoutes: (app: FastifyInstance) => void
  /** Sends the same response for all paths. */
  readonly sendWithoutSession: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
  readonly sendEnded: (reply: FastifyReply) => FastifyReply
}

/** Returns the value of a cookie, or an empty string if there is none. */
export function readCookie({ headers: { cookie = '' } }: FastifyRequest, name: string): string {
  const pair = cookie.split(/; */).find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) ?? ''
}
