import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { listenError } from '../listen-error.ts'

/**
 * Ports that no system hands out by itself, to what connects somewhere or listens at 0 (Linux begins at 32768, others at
 * 49152): one of those may be gone again before whoever is told of it listens there.
 */
const minPort = 20_000
const endPort = 32_768

const maxTries = 100

/**
 * A port that nobody listens on, for processes that listen there later: each of them must be told the same one.
 *
 * @throws when no port was free in all tries
 */
export async function findFreePort(host: string): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await requireFreePort(host, randomInt(minPort, endPort))
    } catch (error) {
      if (tries === maxTries) throw error
    }
  }
}

/** @throws when the port is in use */
export async function requireFreePort(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host)
  await once(server, 'listening').catch((error) => {
    throw listenError(error, { host, port })
  })
  server.close()
  await once(server, 'close')
  return port
}
