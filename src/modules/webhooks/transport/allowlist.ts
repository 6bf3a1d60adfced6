import { isIP } from 'node:net'
import { createNetworkMatcher, isIpNetwork } from '../../../core/net/ip-networks.ts'
import type { Mode } from '../../../operations/context.ts'

/** What may be delivered to beside public addresses. */
export type Allowlist = {
  /** Whether a host is allowed by its name, and then wherever it is; `host` as in a URL. */
  readonly coversHost: (host: string, port: number) => boolean
  readonly coversAddress: (address: string) => boolean
}

/** What WEBHOOK_ALLOW may hold, for who reads that it is wrong. */
export const allowlistFormat =
  'networks (10.0.0.0/8), addresses and hosts (hooks.internal, hooks.internal:8080), separated by commas'

/** The entries of WEBHOOK_ALLOW, as `allowanceOf` takes them; `null` where one is wrong. */
export function parseAllowlist(text: string): string[] | null {
  const entries = text.split(',').map((each) => parseEntry(each.trim()))
  return entries.every((entry) => entry !== null) ? entries : null
}

/** What entries allow, and in the sandbox this machine itself. */
export function createAllowlist(entries: readonly string[], mode: Mode): Allowlist {
  const own: Record<Mode, readonly string[]> = { sandbox: ['127.0.0.0/8', '::1/128'], live: [] }
  const all = [...entries, ...own[mode]]
  const hosts = new Set(all)
  return {
    coversHost: (host, port) => hosts.has(normalizeHost(host)) || hosts.has(`${normalizeHost(host)} ${port}`),
    coversAddress: createNetworkMatcher(all.filter((entry) => entry.includes('/'))),
  }
}

/** A host without what a URL puts around an address, or after a name. */
export function normalizeHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

/** A network with its prefix, a host, or a host and a port with a space between them. */
function parseEntry(text: string): string | null {
  if (isIP(text) !== 0) return `${text}/${isIP(text) === 4 ? 32 : 128}`
  if (text.includes('/')) return isIpNetwork(text) ? text : null
  const [, host = '', port] = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text) ?? []
  if (!URL.canParse(`http://${host}`) || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) return null
  const { hostname } = new URL(`http://${host}`)
  return port === undefined ? normalizeHost(hostname) : `${normalizeHost(hostname)} ${Number(port)}`
}
