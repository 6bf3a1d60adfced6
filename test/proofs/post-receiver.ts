import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What has come so far: posts, and of these no two of one path and id. */
export type Received = { readonly port: number; readonly posts: number; readonly deliveries: number }

// A receiver of webhooks in a process of its own, which does as little as one can: `node post-receiver.ts`. It tells its parent
// where it is, then at each message what has come, and ends with it.
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
