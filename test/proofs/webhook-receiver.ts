import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What came at one time, and what it was answered. */
export type Receipt = {
  readonly id: string
  readonly objectId: string
  readonly sequence: number
  readonly status: number
}

/** A receiver in the process of the proof, which outlives every process of the service. */
export type WebhookReceiver = {
  readonly url: string
  readonly receipts: readonly Receipt[]
  readonly close: () => void
}

/** @param statusFor what is answered, or a promise of it; `response` for whoever does otherwise and answers `null` */
export async function startWebhookReceiver(
  statusFor: (id: string, path: string, response: ServerResponse) => number | null | Promise<number | null>,
): Promise<WebhookReceiver> {
  const receipts: Receipt[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // Whoever was sending is gone: nothing came.
      return
    }
    const { id, object, sequence } = JSON.parse(Buffer.concat(chunks).toString())
    const status = await statusFor(id, request.url ?? '', response)
    receipts.push({ id, objectId: object.id, sequence, status: status ?? 0 })
    if (status !== null) response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/`, receipts, close }
}
