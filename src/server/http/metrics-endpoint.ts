import { createServer } from 'node:http'
import { preferenceFor } from './content-negotiation.ts'

/** A text and its media type. */
type Exposition = { readonly type: string; readonly text: string }

/** Writes the metrics in one of the text formats that Prometheus reads. */
export type WriteMetrics = (format: 'openMetrics' | 'prometheus') => Promise<Exposition>

/** `listen` rejects with the error of an address that can't be listened on. */
export type MetricsServer = {
  readonly listen: (place: { readonly host: string; readonly port: number }) => Promise<void>
  readonly close: () => void
}

const path = '/metrics'

/**
 * Serves `/metrics` and nothing else, on a port of its own, so that access to metrics and access to the service can be granted
 * separately. Concurrent requests share one measurement; each gets the format that it accepts.
 */
export function createMetricsServer(
  expose: () => Promise<WriteMetrics>,
  onFault: (error: unknown) => void,
): MetricsServer {
  let exposing: Promise<WriteMetrics> | null = null
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
      .then((write) => write(isOpenMetricsWanted(request.headers.accept) ? 'openMetrics' : 'prometheus'))
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

/** Whether OpenMetrics is named, and wanted as much as plain text; Prometheus names both. */
function isOpenMetricsWanted(accept: string | undefined): boolean {
  const { quality, isExplicit: isNamed } = preferenceFor('application/openmetrics-text', accept)
  return isNamed && quality > 0 && quality >= preferenceFor('text/plain', accept).quality
}
