import type { LookupAddress } from 'node:dns'
import { Agent as HttpAgent } from 'node:http'
import type { AgentOptions } from 'node:https'
import { Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Allowlist } from './destination-policy.ts'
import { isLocalhost } from './destination-policy.ts'
import { systemLookup } from './dns-lookup.ts'
import { addressRefusedFailure, DeliveryError } from './failure.ts'
import type { AgentPair } from './http-exchange.ts'
import { isPublicUnicast } from './public-address.ts'

export type SsrfGuard = {
  readonly allowlist: Allowlist
  /** Resolves all host names except `localhost` and the names on the allowlist. */
  readonly lookUp: LookupFunction
}

export const maxIdleSockets = 128

/**
 * Each new connection checks every IP address of the URL's host. The socket connects only to a checked address, so DNS
 * rebinding has no effect.
 */
export function createGuardedAgents(guard: SsrfGuard, options: AgentOptions): AgentPair {
  return { http: guardAgent(new HttpAgent(options), guard), https: guardAgent(new HttpsAgent(options), guard) }
}

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

function createConnectionLookup(
  { host, port }: AgentConnectionOptions,
  { allowlist, lookUp }: SsrfGuard,
): LookupFunction | null {
  const name = host ?? 'localhost'
  const isHostAllowed = allowlist.coversHost(name, Number(port))
  const isAllowed = (address: string) => isHostAllowed || allowlist.coversAddress(address) || isPublicUnicast(address)
  if (isIP(name) !== 0 && !isAllowed(name)) return null
  return createCheckedLookup(isAllowed, isHostAllowed || isLocalhost(name) ? systemLookup : lookUp)
}

/** The lookup fails if any address of the host is rejected, because the socket can try any of the host's addresses. */
function createCheckedLookup(isAllowed: (address: string) => boolean, lookUp: LookupFunction): LookupFunction {
  return (hostname, options, done) =>
    lookUp(hostname, options, (error, result, family) => {
      if (error) return done(new DeliveryError('dns', `The host name could not be resolved (${error.code}).`), '', 0)
      const addresses = typeof result === 'string' ? [result] : result.map(({ address }: LookupAddress) => address)
      if (!addresses.every(isAllowed)) return done(createAddressError(), '', 0)
      done(null, result, family)
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
