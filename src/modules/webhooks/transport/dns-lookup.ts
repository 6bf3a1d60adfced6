import { lookup, Resolver } from 'node:dns'
import type { LookupFunction } from 'node:net'

type ResolvedAddress = { readonly address: string; readonly family: number }

/** How long a name server may take, and how often it is asked. */
const [serverTimeoutMs, tries] = [2_000, 2]

/**
 * Looks the hosts of merchants up at the name servers, without the threads that the system's own lookup takes.
 *
 * There are four of those in a process: names whose servers never answer would hold them, and with them everyone's deliveries.
 *
 * @param servers others than the system's
 */
export function createDnsLookup(servers?: readonly string[]): LookupFunction {
  const resolver = new Resolver({ timeout: serverTimeoutMs, tries })
  if (servers) resolver.setServers(servers)
  return (hostname, options, done) => {
    let open = 2
    let fault: NodeJS.ErrnoException | null = null
    const found: Record<4 | 6, readonly string[]> = { 4: [], 6: [] }
    const collectAddresses =
      (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: readonly string[] | undefined) => {
        fault ??= error
        found[family] = addresses ?? []
        open--
        if (open > 0) return
        const all = ([4, 6] as const).flatMap((each) => found[each].map((address) => ({ address, family: each })))
        completeLookup(all, { options, done, fault })
      }
    resolver.resolve4(hostname, collectAddresses(4))
    resolver.resolve6(hostname, collectAddresses(6))
  }
}

/** Looks a host up as the system does, `/etc/hosts` included. */
export const systemLookup: LookupFunction = lookup

/** Answers in the form that was asked for: all addresses, or the first. */
export function completeLookup(
  found: readonly ResolvedAddress[],
  {
    options,
    done,
    fault,
  }: {
    options: Parameters<LookupFunction>[1]
    done: Parameters<LookupFunction>[2]
    fault: NodeJS.ErrnoException | null
  },
): void {
  const [first] = found
  if (first === undefined) done(fault ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0)
  else if (options.all) done(null, [...found])
  else done(null, first.address, first.family)
}
