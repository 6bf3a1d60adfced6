import { createServer } from 'node:http'
import { preferenceFor } from './content-negotiation.ts'

type Exposition = { readonly type: string; readonly text: string }

export type WriteMetrics = (format: 'openMetrics' | 'prometheus') => Promise<Exposition>

export type MetricsServer = {
  readonly listen: (address: { readonly host: string; readonly port: number }) => Promise<void>
  readonly close: () => void
}

const path = '/metrics'

/** The metrics endpoint has its own port, so that access to metrics can be granted separately. */
export function createMetricsServer(
  expose: () => Promise<WriteMetrics>,
  onError: (error: unknown) => void,
): MetricsServer {
  let pending: Promise<WriteMetrics> | null = null
  const exposeOnce = () => {
    pending ??= expose().finally(() => {
      pending = null
    })
    return pending
  }
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request
    if (url.split('?', 1)[0] !== path) return response.writeHead(404).end()
    if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405, { allow: 'GET, HEAD' }).end()
    exposeOnce()
      .then((write) => write(prefersOpenMetrics(request.headers.accept) ? 'openMetrics' : 'prometheus'))
      .then(({ type, text }) => response.writeHead(200, { 'content-type': type }).end(text))
      .catch((error) => {
        onError(error)
        response.writeHead(500).end()
      })
  })
  return {
    listen: (address) =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(address, resolve)
      }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function prefersOpenMetrics(accept: string | undefined): boolean {
  const { quality, isExplicit } = preferenceFor('application/openmetrics-text', accept)
  return isExplicit && quality > 0 && quality >= preferenceFor('text/plain', accept).quality
}
