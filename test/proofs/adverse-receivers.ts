import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { LookupFunction } from 'node:net'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { completeLookup } from '../../src/modules/webhooks/transport/dns-lookup.ts'
import { freePort } from '../support/free-port.ts'
import type { Receipt } from './webhook-receiver.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'

/** The kinds of faulty receivers; the last one is sound. */
export const kinds = ['down', 'hangs', 'resets', 'slow', 'fails', 'redirects', 'rebinds', 'well'] as const
export type Kind = (typeof kinds)[number]

/** Receivers of every kind, with one path for each endpoint. */
export type AdverseReceivers = {
  readonly urlOf: (kind: Kind, path: string) => string
  /** The received events, in order of completion. */
  readonly receipts: () => Receipt[]
  /** Connections to addresses that must be unreachable. */
  readonly trapped: () => number
  readonly lookUp: LookupFunction
  /** Repairs the receivers that are down, hang or reset connections. */
  readonly recover: () => Promise<void>
  readonly close: () => void
}

/** Response time of a slow receiver. */
const slowMs = 3_000

const metadata = '169.254.169.254'
const rebinding = 'rebinding.example'

/** Starts them. Redirects and changing names lead to a cloud's metadata address and to traps on this machine. */
export async function startAdverseReceivers(random: () => number): Promise<AdverseReceivers> {
  let isRecovered = false
  let trapped = 0
  const trap = createServer((socket) => {
    trapped++
    socket.destroy()
  })
  trap.listen(0, '127.0.0.1')
  await once(trap, 'listening')
  const places = [`http://${metadata}/latest/meta-data/`, `http://127.0.0.1:${portOf(trap)}/`]
  const respondByKind: Record<Kind, (response: ServerResponse) => number | null | Promise<number | null>> = {
    down: () => 200,
    hangs: () => (isRecovered ? 200 : null),
    resets: ({ socket }) => {
      if (!isRecovered) socket?.resetAndDestroy()
      return isRecovered ? 200 : null
    },
    slow: () => delay(slowMs, 200),
    fails: () => (random() < 0.1 ? 500 : 200),
    redirects: (response) => {
      response.setHeader('location', places[random() < 0.5 ? 0 : 1] as string)
      return 307
    },
    // Closes the connection, so that the next request resolves the name again.
    rebinds: (response) => {
      response.setHeader('connection', 'close')
      return 200
    },
    well: () => 200,
  }
  const receiver = await startWebhookReceiver((_, path, response) =>
    respondByKind[path.split('/')[1] as Kind](response),
  )
  const port = Number(new URL(receiver.url).port)
  const inside = ownAddress()
  const innerTrap = inside === null ? null : createServer(() => trapped++).listen(port, inside)
  const downPort = await freePort()
  const open = [receiver]

  return {
    urlOf: (kind, path) => {
      if (kind === 'rebinds') return `http://${rebinding}:${port}/${kind}/${path}`
      return `http://127.0.0.1:${kind === 'down' ? downPort : port}/${kind}/${path}`
    },
    receipts: () => open.flatMap(({ receipts }) => receipts),
    trapped: () => trapped,
    lookUp: resolvingAnew(inside === null ? [metadata] : [inside, metadata]),
    recover: async () => {
      isRecovered = true
      open.push(await startWebhookReceiver(() => 200, downPort))
    },
    close: () => {
      for (const { close } of open) close()
      trap.close()
      innerTrap?.close()
    },
  }
}

/** Resolves a name to this machine the first time, and to internal addresses afterwards. */
function resolvingAnew(inner: readonly string[]): LookupFunction {
  let lookups = 0
  return (_, options, done) => {
    const address = lookups === 0 ? '127.0.0.1' : (inner[lookups % inner.length] as string)
    lookups++
    setImmediate(() => completeLookup([{ address, family: 4 }], { options, done, error: null }))
  }
}

/** A private address of this machine that other machines can reach, if it has one. */
function ownAddress(): string | null {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return own.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null
}

function portOf(server: ReturnType<typeof createServer>): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
