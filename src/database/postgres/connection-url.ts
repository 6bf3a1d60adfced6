import type { ClientConfig } from 'pg'

/** Further requests are rejected while `queue` requests wait for a connection (load shedding). */
export type PoolSizes = { readonly connections: number; readonly queue: number }

const defaultPoolSizes = { connections: 10, queue: 1_000 }

/** The server's `name` is for messages, and contains no password. */
export type ServerTarget = { readonly config: ClientConfig; readonly name: string }

export type ConnectionSettings = { readonly servers: readonly ServerTarget[]; readonly sizes: PoolSizes }

/**
 * Accepts several servers, like libpq: `postgres://user@one:5432,other:5432/database`. The URL's parameters `pool` and
 * `queue` set the pool sizes.
 *
 * @throws Error whose message does not contain the password
 */
export function parseConnectionUrl(url: string): ConnectionSettings {
  const [, scheme = '', user = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/s.exec(url) ?? []
  const names = hosts.split(',')
  const urls = names.map((name) => parseServerUrl(scheme + user + name + rest, name, names.length))
  const [{ searchParams: params }] = urls as [URL]
  requireReadWriteTarget(params)
  const sizes = {
    connections: readPoolSize(params, 'pool', defaultPoolSizes.connections),
    queue: readPoolSize(params, 'queue', defaultPoolSizes.queue),
  }
  for (const { searchParams } of urls) for (const name of ownParameters) searchParams.delete(name)
  return { servers: urls.map(toServerTarget), sizes }
}

export function databaseNameOf(url: string): string {
  return parseConnectionUrl(url).servers[0]?.name.replace(/^[^/]*\//, '') || 'postgres'
}

const ownParameters = ['pool', 'queue', 'target_session_attrs']

function parseServerUrl(text: string, name: string, count: number): URL {
  if (count > 1 && name === '') throw new Error('DATABASE_URL: a host is missing before or after a comma')
  if (!URL.canParse(text)) {
    throw new Error(
      `DATABASE_URL: ${name || 'it'} is not a valid server; use postgres://<user>@<host>:<port>,<host>:<port>/<database>`,
    )
  }
  const url = new URL(text)
  if (url.searchParams.get('host')?.includes(','))
    throw new Error('DATABASE_URL: name several hosts before the database')
  return url
}

function requireReadWriteTarget(params: URLSearchParams): void {
  const attributes = params.get('target_session_attrs')
  if (attributes === null || attributes === 'read-write' || attributes === 'primary') return
  throw new Error('DATABASE_URL: target_session_attrs must be read-write, or left out: the service writes')
}

function readPoolSize(params: URLSearchParams, name: 'pool' | 'queue', defaultSize: number): number {
  const text = params.get(name)
  if (text === null) return defaultSize
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Error(`DATABASE_URL: ${name} must be a whole number from 1 to 999999`)
}

function toServerTarget(url: URL): ServerTarget {
  const host = url.hostname || url.searchParams.get('host') || 'localhost'
  return {
    config: { connectionString: url.href, application_name: 'payout-gateway' },
    name: `${host}:${url.port || '5432'}${url.pathname}`,
  }
}
