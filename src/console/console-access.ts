import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TrustedProxies } from '../server/http/caller-address.ts'
import type { ConsoleSession } from './console-session.ts'

declare module 'fastify' {
  interface FastifyRequest {
    consoleSession: ConsoleSession | null
  }
}

export type ConsoleAccess = {
  /** The start of the path of every console page, or an empty string. */
  readonly basePath: string
  readonly originOf: (request: FastifyRequest) => string
  readonly trustedProxies: TrustedProxies
  /** Whether other sites may link to pages of the console. A request from a link of another site has no session. */
  readonly canBeLinkedTo: boolean
  readonly errorHint: string
  readonly findSession: (request: FastifyRequest) => Promise<ConsoleSession | null>
  readonly addRoutes: (app: FastifyInstance) => void
  /** Without a session, the response is the same for every path, so it does not reveal which pages exist. */
  readonly sendWithoutSession: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
  readonly sendEnded: (reply: FastifyReply) => FastifyReply
}

export function readCookie({ headers: { cookie = '' } }: FastifyRequest, name: string): string {
  const pair = cookie.split(/; */).find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) ?? ''
}
