import { isIP } from 'node:net'
import type { FieldError } from '../../../core/errors.ts'
import { hasValue } from '../../../core/input.ts'
import { createNetworkMatcher, isIpNetwork } from '../../../core/net/ip-networks.ts'
import type { Mode, Service } from '../../../operations/context.ts'
import { isPublicUnicast } from './public-address.ts'

export type Allowlist = {
  /** Returns whether the allowlist contains the host name. Does not resolve the host name. */
  readonly coversHost: (host: string, port: number) => boolean
  readonly coversAddress: (address: string) => boolean
}

export const allowlistFormat =
  'networks (10.0.0.0/8), addresses and hosts (hooks.internal, hooks.internal:8080), separated by commas'

/** Returns `null` if an entry of WEBHOOK_ALLOW is invalid. */
export function parseAllowlist(text: string): string[] | null {
  const entries = text.split(',').map((each) => parseEntry(each.trim()))
  return entries.every((entry) => entry !== null) ? entries : null
}

function parseEntry(text: string): string | null {
  if (isIP(text) !== 0) return `${text}/${isIP(text) === 4 ? 32 : 128}`
  if (text.includes('/')) return isIpNetwork(text) ? text : null
  const [, host = '', port] = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text) ?? []
  if (!URL.canParse(`http://${host}`) || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) return null
  const { hostname } = new URL(`http://${host}`)
  return port === undefined ? normalizeHost(hostname) : `${normalizeHost(hostname)} ${Number(port)}`
}

export function createAllowlist(entries: readonly string[], mode: Mode): Allowlist {
  const loopback: Record<Mode, readonly string[]> = { sandbox: ['127.0.0.0/8', '::1/128'], live: [] }
  const all = [...entries, ...loopback[mode]]
  const hosts = new Set(all)
  return {
    coversHost: (host, port) => hosts.has(normalizeHost(host)) || hosts.has(`${normalizeHost(host)} ${port}`),
    coversAddress: createNetworkMatcher(all.filter((entry) => entry.includes('/'))),
  }
}

function normalizeHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

export function findUrlFieldErrors({ mode, webhookAllowed }: Service, url: unknown): FieldError[] {
  if (typeof url !== 'string' || !hasValue(url)) return []
  const message = findUrlError(url.trim(), { mode, allowlist: createAllowlist(webhookAllowed, mode) })
  return message === null ? [] : [{ field: 'url', code: 'INVALID_PARAMETER', message }]
}

export type DestinationPolicy = { readonly mode: Mode; readonly allowlist: Allowlist }

const allowedUrlPrefixes: Record<Mode, readonly string[]> = { sandbox: ['https://', 'http://'], live: ['https://'] }

const maxUrlLength = 2_048

/**
 * Returns `null`, or an error message without the name of the field. Host names are not resolved here, because each
 * connection checks the resolved addresses.
 */
export function findUrlError(text: string, { mode, allowlist }: DestinationPolicy): string | null {
  if (text.length > maxUrlLength) return `must have at most ${maxUrlLength} characters`
  // The URL parser drops spaces, tabs and line ends, so the stored URL would differ from the requested URL.
  if (/[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return 'must be a URL such as https://example.com/webhooks'
  const { protocol, hostname, port } = new URL(text)
  const prefixes = allowedUrlPrefixes[mode]
  if (!prefixes.includes(`${protocol}//`)) return `must begin with ${prefixes.join(' or ')}`
  if (/^\w+:\/*[^/?#]*@/.test(text)) return 'must not contain a user or password'
  if (text.includes('#')) return 'must not contain a fragment (#)'
  if (port === '0') return 'must not have port 0'
  const host = normalizeHost(hostname)
  const isAllowed = allowlist.coversHost(host, Number(port) || (protocol === 'https:' ? 443 : 80))
  return isAllowed || isExternalHost(host, allowlist)
    ? null
    : 'must be of a public address: what is inside must be allowed by WEBHOOK_ALLOW'
}

function isExternalHost(host: string, { coversAddress }: Allowlist): boolean {
  if (isIP(host) !== 0) return isPublicUnicast(host) || coversAddress(host)
  return !isLocalhost(host) || coversAddress('127.0.0.1')
}

/** The names `localhost` and `*.localhost` always mean the loopback address, regardless of DNS (RFC 6761, 6.3). */
export function isLocalhost(host: string): boolean {
  return /(^|\.)localhost$/i.test(host)
}
