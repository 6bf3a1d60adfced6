import { createServer } from 'node:http'

/** Merchants by API key, in memory: no lookup in a table, no hash. */
export const merchantIds: Readonly<Record<string, string>> = JSON.parse(process.env.MERCHANTS ?? '{}')

type YardstickRequest = {
  readonly merchantId: string
  readonly url: string
  readonly key: string
  readonly body: string
}

/** A plain HTTP server of Node; `respond` returns a status and a value to send as JSON. */
export function servePlainly(
  respond: (received: YardstickRequest) => Promise<[number, unknown]> | [number, unknown],
): void {
  const server = createServer(async (request, response) => {
    const merchantId = merchantIds[String(request.headers['x-api-key'])]
    let body = ''
    if (request.method === 'POST') for await (const chunk of request.setEncoding('utf8')) body += chunk
    const received = { url: request.url ?? '', key: String(request.headers['idempotency-key'] ?? ''), body }
    const answering = merchantId === undefined ? ([401, {}] as const) : respond({ merchantId, ...received })
    const [status, value] = answering instanceof Promise ? await answering : answering
    const text = JSON.stringify(value)
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.stderr.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`)
  })
  process.on('SIGTERM', () => process.exit(0))
}
