import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Received posts, and those with a distinct path and id. */
export type Received = { readonly port: number; readonly posts: number; readonly deliveries: number }

// A webhook receiver in a separate process, which does as little as possible: `node post-receiver.ts`. It sends its
// parent its URL, then its counts at each message, and ends with the parent.
const seen = new Set<string>()
let posts = 0

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    posts++
    seen.add(`${request.url} ${request.headers['webhook-id']}`)
    response.writeHead(204).end()
  })
})

function report(): void {
  const { port } = server.address() as AddressInfo
  process.send?.({ port, posts, deliveries: seen.size } satisfies Received)
}

process.on('message', report)
process.on('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', report)
