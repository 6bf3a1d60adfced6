import type { LookupAddress } from 'node:dns'
import type { AgentOptions } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent'
import type { Allowance } from './allowance.ts'
import { isThisMachine } from './check-url.ts'
import { addressRefused, DeliveryError } from './failure.ts'
import { lookUpBySystem } from './look-up.ts'
import { isPublicUnicast } from './public-address.ts'

/** What connections are held to. */
export type Guard = {
  readonly allowance: Allowance
  /** Looks up hosts that are neither allowed by their names nor this machine. */
  readonly lookUp: LookupFunction
}

/** Agents of `http:` and `https:`, whose every new connection is checked when it is made. */
export type Agents = { readonly http: RequestFilteringHttpAgent; readonly https: RequestFilteringHttpsAgent }

/** Idle connections that are kept, of all hosts together. */
export const mostIdle = 128

/**
 * Agents that connect only to public unicast and to what is allowed.
 *
 * request-filtering-agent checks every address that a name resolves to, and literal ones. What it lets through (168.63.129.16,
 * ::127.0.0.1 and whatever else of IPv6 was never given out) is refused here before. It also can't be told of networks: it
 * warns on the console where an address is of another family than one in its list. So it is told of single addresses, those
 * that this allowed, at each connection.
 */
export function guardedAgents(guard: Guard, options: AgentOptions): Agents {
  return {
    http: guarded(new RequestFilteringHttpAgent(options), guard),
    https: guarded(new RequestFilteringHttpsAgent(options), guard),
  }
}

type Agent = Agents['http' | 'https']
type Connect = (options: Connection, onConnection?: (error: Error) => void) => Socket
type Connection = { readonly host?: string; readonly port?: number; readonly lookup?: LookupFunction }

/** Puts what is ours before an agent's own methods. */
function guarded<Guarded extends Agent>(agent: Guarded, guard: Guard): Guarded {
  const connect = agent.createConnection.bind(agent) as Connect
  const keepAlive = agent.keepSocketAlive.bind(agent)
  const createConnection: Connect = (connection, onConnection) => {
    const lookup = letThrough(agent, { connection, guard })
    if (lookup !== null) return connect({ ...connection, lookup }, onConnection)
    onConnection?.(refusal())
    return new Socket()
  }
  const keepSocketAlive = (socket: Duplex): boolean => idleOf(agent) < mostIdle && Boolean(keepAlive(socket))
  return Object.assign(agent, { createConnection, keepSocketAlive })
}

/** The lookup for a connection, with what it allows made known to its agent; `null` where the host is a refused address. */
function letThrough(
  agent: Agent,
  { connection, guard }: { connection: Connection; guard: Guard },
): LookupFunction | null {
  const host = connection.host ?? 'localhost'
  const isHostAllowed = guard.allowance.coversHost(host, Number(connection.port))
  const isAllowed = (address: string) => isHostAllowed || guard.allowance.coversAddress(address)
  const allowIPAddressList: string[] = []
  const admit = (address: string): boolean => {
    if (!isAllowed(address)) return isPublicUnicast(address)
    allowIPAddressList.push(address)
    return true
  }
  // Read by the agent whenever a connection is made, and kept with it until its addresses are known.
  Object.assign(agent, {
    requestFilterOptions: {
      allowPrivateIPAddress: false,
      allowMetaIPAddress: false,
      allowIPAddressList,
      denyIPAddressList: [],
    },
  })
  if (isIP(host) !== 0 && !admit(host)) return null
  return admitting(admit, isHostAllowed || isThisMachine(host) ? lookUpBySystem : guard.lookUp)
}

/** Answers what `lookUp` finds, unless one of all addresses is refused: any of them may be tried. */
function admitting(admit: (address: string) => boolean, lookUp: LookupFunction): LookupFunction {
  return (hostname, options, done) =>
    lookUp(hostname, options, (error, found, family) => {
      if (error) return done(new DeliveryError('dns', `The host could not be looked up (${error.code}).`), '', 0)
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }: LookupAddress) => address)
      // All are looked at, so that each that is allowed is known.
      const isRefused = addresses.map(admit).includes(false)
      if (isRefused) return done(refusal(), '', 0)
      done(null, found, family)
    })
}

function refusal(): DeliveryError {
  return new DeliveryError(addressRefused.kind, addressRefused.message)
}

function idleOf({ freeSockets }: Agent): number {
  let count = 0
  for (const host in freeSockets) count += freeSockets[host]?.length ?? 0
  return count
}
