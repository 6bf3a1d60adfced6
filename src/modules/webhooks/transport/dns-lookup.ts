import { lookup, Resolver } from 'node:dns'
import type { LookupFunction } from 'node:net'

type ResolvedAddress = { readonly address: string; readonly family: number }

const [serverTimeoutMs, tries] = [2_000, 2]

/**
 * Queries name servers directly. The system's lookup uses a pool of four threads per process, so a few unresponsive
 * name servers would block all deliveries.
 *
 * @param servers name servers to use instead of the system's name servers
 */
export function createDnsLookup(servers?: readonly string[]): LookupFunction {
  const resolver = new Resolver({ timeout: serverTimeoutMs, tries })
  if (servers) resolver.setServers(servers)
  return (hostname, options, done) => {
    let openQueries = 2
    let firstError: NodeJS.ErrnoException | null = null
    const resolved: Record<4 | 6, readonly string[]> = { 4: [], 6: [] }
    const collectAddresses =
      (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: readonly string[] | undefined) => {
        firstError ??= error
        resolved[family] = addresses ?? []
        openQueries--
        if (openQueries > 0) return
        const all = ([4, 6] as const).flatMap((family) => resolved[family].map((address) => ({ address, family })))
        completeLookup(all, { options, done, error: firstError })
      }
    resolver.resolve4(hostname, collectAddresses(4))
    resolver.resolve6(hostname, collectAddresses(6))
  }
}

/** Unlike a DNS query, the system's lookup reads `/etc/hosts`. */
export const systemLookup: LookupFunction = lookup

type LookupCompletion = {
  readonly options: Parameters<LookupFunction>[1]
  readonly done: Parameters<LookupFunction>[2]
  readonly error: NodeJS.ErrnoException | null
}

export function completeLookup(
  addresses: readonly ResolvedAddress[],
  { options, done, error }: LookupCompletion,
): void {
  const [first] = addresses
  if (first === undefined) done(error ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0)
  else if (options.all) done(null, [...addresses])
  else done(null, first.address, first.family)
}
