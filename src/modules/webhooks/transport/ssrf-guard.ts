import type { LookupAddress } from 'node:dns'
import { Agent as HttpAgent } from 'node:http'
import type { AgentOptions } from 'node:https'
import { Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Allowlist } from './allowlist.ts'
import { isLocalhost } from './check-url.ts'
import { systemLookup } from './dns-lookup.ts'
import { addressRefusedFailure, DeliveryError } from './failure.ts'
import { isPublicUnicast } from './public-address.ts'

/** What connections are held to. */
export type SsrfGuard = {
  readonly allowance: Allowlist
  /** Looks up hosts that are neither allowed by their names nor this machine. */
  readonly lookUp: LookupFunction
}

/** Agents of `http:` and `https:`, whose every new connection is checked when it is made. */
export type GuardedAgents = { readonly http: HttpAgent; readonly https: HttpsAgent }

/** Idle connections that are kept, of all hosts together. */
export const maxIdleSockets = 128

/**
 * Agents that connect only to public unicast and to what is allowed.
 *
 * Each new connection checks a literal host, or every address that its lookup finds; the socket connects to no other address.
 */
export function createGuardedAgents(guard: SsrfGuard, options: AgentOptions): GuardedAgents {
  return { http: guardAgent(new HttpAgent(options), guard), https: guardAgent(new HttpsAgent(options), guard) }
}

/** Puts the checks before an agent's own methods. */
function guardAgent<Guarded extends HttpAgent>(agent: Guarded, guard: SsrfGuard): Guarded {
  const connect = agent.createConnection.bind(agent)
  const keepAlive = agent.keepSocketAlive.bind(agent)
  const createConnection: HttpAgent['createConnection'] = (connection, onConnection) => {
    const lookup = createConnectionLookup(connection, guard)
    if (lookup !== null) return connect({ ...connection, lookup }, onConnection)
    const socket = new Socket()
    onConnection?.(createAddressError(), socket)
    return socket
  }
  const keepSocketAlive = (socket: Duplex): boolean =>
    countIdleSockets(agent) < maxIdleSockets && Boolean(keepAlive(socket))
  return Object.assign(agent, { createConnection, keepSocketAlive })
}

type AgentConnectionOptions = Parameters<HttpAgent['createConnection']>[0]

/** The lookup for a connection, which checks what it finds; `null` where the host is a refused address. */
function createConnectionLookup(
  { host, port }: AgentConnectionOptions,
  { allowance, lookUp }: SsrfGuard,
): LookupFunction | null {
  const name = host ?? 'localhost'
  const isHostAllowed = allowance.coversHost(name, Number(port))
  const isAllowed = (address: string) => isHostAllowed || allowance.coversAddress(address) || isPublicUnicast(address)
  if (isIP(name) !== 0 && !isAllowed(name)) return null
  return createCheckedLookup(isAllowed, isHostAllowed || isLocalhost(name) ? systemLookup : lookUp)
}

/** Answers what `lookUp` finds, unless one of all addresses is refused: any of them may be tried. */
function createCheckedLookup(isAllowed: (address: string) => boolean, lookUp: LookupFunction): LookupFunction {
  return (hostname, options, done) =>
    lookUp(hostname, options, (error, found, family) => {
      if (error) return done(new DeliveryError('dns', `The host could not be looked up (${error.code}).`), '', 0)
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }: LookupAddress) => address)
      if (!addresses.every(isAllowed)) return done(createAddressError(), '', 0)
      done(null, found, family)
    })
}

function createAddressError(): DeliveryError {
  return new DeliveryError(addressRefusedFailure.kind, addressRefusedFailure.message)
}

function countIdleSockets({ freeSockets }: HttpAgent): number {
  let count = 0
  for (const host in freeSockets) count += freeSockets[host]?.length ?? 0
  return count
}
