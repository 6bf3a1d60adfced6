import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
export function listenError(
  error: unknown,
  { host, port }: { host: string; port: number },
  prefix: '' | 'METRICS_' | 'CONSOLE_' = '',
): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  const hint = listenErrorHints[code]
  if (hint === undefined) return error
  return new Error(
    `Cannot listen on ${host}, port ${port} (${code}): ${hint.replace(/PORT|HOST/g, (name) => prefix + name)}`,
    { cause: error },
  )
}

const listenErrorHints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it. Set PORT to another one; 0 takes a free one.',
  EACCES: 'this user may not. Set PORT to 1024 or above.',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one that it has.',
  ENOTFOUND: 'there is no such host. Set HOST to an address of this machine.',
}

/**
 * The ports up to `endPort` are below the ephemeral ports, which start at 32768 on Linux and at 49152 elsewhere. The
 * operating system could assign an ephemeral port to another program before the worker processes listen on it.
 */
const minPort = 20_000
const endPort = 32_768

const maxTries = 100

export async function findFreePort(host: string): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await requireFreePort(host, randomInt(minPort, endPort))
    } catch (error) {
      if (tries === maxTries) throw error
    }
  }
}

export async function requireFreePort(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host)
  await once(server, 'listening').catch((error) => {
    throw listenError(error, { host, port })
  })
  server.close()
  await once(server, 'close')
  return port
}
