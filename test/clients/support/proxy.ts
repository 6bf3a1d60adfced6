import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/**
 * The fault of a request: its connection dies before it reaches the service (`refuse`), after the service has responded
 * (`lose`), or in the middle of the response (`truncate`); the response never continues after its first bytes (`stall`); or the proxy
 * responds itself.
 */
export type Fault = 'refuse' | 'lose' | 'truncate' | 'stall' | { readonly status: number; readonly headers?: object }

export type Seen = { readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string }

export type Proxy = Awaited<ReturnType<typeof startProxy>>

/** Starts a proxy in front of a service, which treats the next requests as the faults say, and forwards all others. */
export async function startProxy(address: string) {
  const faults: Fault[] = []
  const seen: Seen[] = []
  const open = new Set<ServerResponse>()
  const server = createServer(async (incoming, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    // A preflight is the browser's own request.
    const fault = incoming.method === 'OPTIONS' ? undefined : faults.shift()
    const body = await buffer(incoming).catch(() => Buffer.alloc(0))
    if (incoming.method !== 'OPTIONS')
      seen.push({ url: incoming.url ?? '', headers: incoming.headers, body: String(body) })
    if (fault === 'refuse') return response.destroy()
    if (typeof fault === 'object') {
      const cors = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'retry-after, ratelimit' }
      return response.writeHead(fault.status, { ...cors, ...fault.headers }).end()
    }
    forward({ address, incoming, body, response, fault })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The faults of the next requests, in their order. */
    faults,
    /** The requests so far, without preflights. */
    seen,
    /** Cuts every connection. */
    cut: () => {
      for (const each of open) each.destroy()
    },
    end: () => {
      for (const each of open) each.destroy()
      server.close()
      server.closeAllConnections()
    },
  }
}

type Exchange = {
  readonly address: string
  readonly incoming: IncomingMessage
  readonly body: Buffer
  readonly response: ServerResponse
  readonly fault: Fault | undefined
}

function forward({ address, incoming, body, response, fault }: Exchange): void {
  const { method, headers, url } = incoming
  const onward = request(new URL(url ?? '', address), { method, headers }, async (upstream) => {
    if (fault === 'lose') {
      await buffer(upstream).catch(() => null)
      return response.destroy()
    }
    response.writeHead(upstream.statusCode ?? 502, upstream.headers)
    if (fault === undefined) return upstream.pipe(response)
    upstream.once('data', (chunk: Buffer) => {
      response.write(chunk.subarray(0, chunk.length / 2), () => fault === 'truncate' && response.destroy())
    })
  })
  onward.on('error', () => response.destroy())
  response.once('close', () => onward.destroy())
  onward.end(body)
}
