import { createServer } from 'node:http'

/** A text in the media type that it has. */
type Exposition = { readonly type: string; readonly text: string }

/** `listen` rejects with the error of an address that can't be listened on. */
export type MetricsServer = {
  readonly listen: (place: { readonly host: string; readonly port: number }) => Promise<void>
  readonly close: () => void
}

const path = '/metrics'

/**
 * Answers `/metrics` and nothing else, by a server of its own: whoever reads metrics need not reach the service, nor the other
 * way round. Who asks while somebody else is being answered gets the same.
 */
export function createMetricsServer(
  expose: () => Promise<Exposition>,
  onFault: (error: unknown) => void,
): MetricsServer {
  let exposing: Promise<Exposition> | null = null
  const shared = () => {
    exposing ??= expose().finally(() => {
      exposing = null
    })
    return exposing
  }
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request
    if (url.split('?', 1)[0] !== path) return response.writeHead(404).end()
    if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405, { allow: 'GET, HEAD' }).end()
    shared()
      .then(({ type, text }) => response.writeHead(200, { 'content-type': type }).end(text))
      .catch((error) => {
        onFault(error)
        response.writeHead(500).end()
      })
  })
  return {
    listen: (place) =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(place, resolve)
      }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
