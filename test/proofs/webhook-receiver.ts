import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A received request, and its response. */
export type Receipt = {
  readonly path: string
  readonly id: string
  readonly objectId: string
  readonly sequence: number
  readonly status: number
  /** Time of arrival by `performance.now()`. */
  readonly at: number
}

/** A receiver in the process of the proof, which outlives every process of the service. */
export type WebhookReceiver = {
  readonly url: string
  readonly receipts: readonly Receipt[]
  readonly close: () => void
}

/**
 * @param statusFor returns the status or a promise of it; it may use `response` itself and return `null`
 * @param port to listen on; 0 takes a free one
 */
export async function startWebhookReceiver(
  statusFor: (id: string, path: string, response: ServerResponse) => number | null | Promise<number | null>,
  port = 0,
): Promise<WebhookReceiver> {
  const receipts: Receipt[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // The sender has disconnected, so the request does not count.
      return
    }
    const { id, object, sequence } = JSON.parse(Buffer.concat(chunks).toString())
    const [path, at] = [request.url ?? '', performance.now()]
    const status = await statusFor(id, path, response)
    receipts.push({ path, id, objectId: object.id, sequence, status: status ?? 0, at })
    if (status !== null) response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: taken } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${taken}/`, receipts, close }
}
