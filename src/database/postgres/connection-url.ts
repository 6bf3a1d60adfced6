import type { ClientConfig } from 'pg'

/** How many connections there are, and how many may wait for one; one more is refused, so that overload sheds. */
export type PoolSizes = { readonly connections: number; readonly queue: number }

/** Connections of one process, and requests that may wait for one, unless the URL says otherwise. */
const defaultPoolSizes = { connections: 10, queue: 1_000 }

/** The servers that a URL names, at least one, each as pg takes it and as people read it, without a password. */
export type ServerTarget = { readonly config: ClientConfig; readonly name: string }

/** What a URL says to PostgreSQL, and to us. */
export type ConnectionSettings = { readonly servers: readonly ServerTarget[]; readonly sizes: PoolSizes }

/**
 * Reads a URL as libpq does, several servers included: `postgres://user@one:5432,other:5432/database`.
 *
 * Besides what PostgreSQL knows it takes `pool` (connections) and `queue` (requests that wait for one).
 *
 * @throws Error that names what is wrong, and no password
 */
export function parseConnectionUrl(url: string): ConnectionSettings {
  const [, scheme = '', user = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/s.exec(url) ?? []
  const names = hosts.split(',')
  const urls = names.map((name) => parseServerUrl(scheme + user + name + rest, name, names.length))
  const [{ searchParams: asked }] = urls as [URL]
  requireReadWriteTarget(asked)
  const sizes = {
    connections: readPoolSize(asked, 'pool', defaultPoolSizes.connections),
    queue: readPoolSize(asked, 'queue', defaultPoolSizes.queue),
  }
  for (const { searchParams } of urls) for (const name of ownParameters) searchParams.delete(name)
  return { servers: urls.map(toServerTarget), sizes }
}

/** The name of the database that a URL leads to. */
export function databaseNameOf(url: string): string {
  return parseConnectionUrl(url).servers[0]?.name.replace(/^[^/]*\//, '') || 'postgres'
}

/** What pg need not know. */
const ownParameters = ['pool', 'queue', 'target_session_attrs']

function parseServerUrl(text: string, name: string, count: number): URL {
  if (count > 1 && name === '') throw new Error('DATABASE_URL: a host is missing before or after a comma')
  if (!URL.canParse(text)) {
    throw new Error(
      `DATABASE_URL: ${name || 'it'} is no server: postgres://<user>@<host>:<port>,<host>:<port>/<database>`,
    )
  }
  const url = new URL(text)
  // libpq takes lists there as well; a folder with a socket is one server.
  if (url.searchParams.get('host')?.includes(','))
    throw new Error('DATABASE_URL: name several hosts before the database')
  return url
}

/** The service writes, so it has one use only for a choice among servers. */
function requireReadWriteTarget(asked: URLSearchParams): void {
  const attributes = asked.get('target_session_attrs')
  if (attributes === null || attributes === 'read-write' || attributes === 'primary') return
  throw new Error('DATABASE_URL: target_session_attrs must be read-write, or left out: the service writes')
}

function readPoolSize(asked: URLSearchParams, name: 'pool' | 'queue', otherwise: number): number {
  const text = asked.get(name)
  if (text === null) return otherwise
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
