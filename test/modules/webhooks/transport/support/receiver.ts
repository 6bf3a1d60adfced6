import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, LookupFunction } from 'node:net'
import { onTestFinished } from 'vitest'
import { completeLookup } from '../../../../../src/modules/webhooks/transport/dns-lookup.ts'
import { certificate, certificateKey } from './certificate.ts'

/** The requests of a receiver, and its number of connections. */
export type Received = {
  method?: string | undefined
  url?: string | undefined
  headers: IncomingMessage['headers']
  body: string
}

/** Starts a webhook receiver until the test ends. */
export async function startReceiver(
  reply: (response: ServerResponse, received: Received) => unknown = (response) => response.end(),
  { isSecure = false, port: wanted = 0 }: { isSecure?: boolean; port?: number } = {},
) {
  const received: Received[] = []
  let connections = 0
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    reply(response, one)
  }
  const server = isSecure
    ? createSecureServer({ key: certificateKey, cert: certificate }, listener)
    : createServer(listener)
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    received,
    connections: () => connections,
    /** Closes all connections, including pending ones, and stops listening. */
    breakOff: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Resolves each name by its list: the first lookup returns the first entry, and later ones repeat the last. */
export function fakeLookup(addressesByName: Record<string, readonly (readonly string[])[]>): LookupFunction {
  const lookups = new Map<string, number>()
  return (hostname, options, done) => {
    const turn = lookups.get(hostname) ?? 0
    lookups.set(hostname, turn + 1)
    const addresses = addressesByName[hostname]?.at(Math.min(turn, (addressesByName[hostname]?.length ?? 0) - 1)) ?? []
    const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    setImmediate(() => completeLookup(all, { options, done, error: null }))
  }
}
