import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** A network path to a service that can be cut. */
export type ShakyLine = Awaited<ReturnType<typeof shakyLineTo>>

/** Listens on a free port and forwards all bytes. */
export async function shakyLineTo(address: string) {
  const { hostname, port } = new URL(address)
  const open = new Set<Socket>()
  let isCut = false
  let isDeaf = false
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(Number(port), hostname)
    open.add(near)
    near.once('close', () => {
      open.delete(near)
      far.destroy()
    })
    far.once('close', () => near.destroy())
    for (const each of [near, far]) each.on('error', () => each.destroy())
    near.pipe(far)
    far.on('data', (chunk) => (isDeaf ? near.destroy() : near.write(chunk)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true
      for (const each of open) each.destroy()
    },
    /** Requests arrive, but no responses return. */
    loseAnswers: () => {
      isDeaf = true
    },
    mend: () => {
      isCut = false
      isDeaf = false
    },
    end: () => {
      server.close()
      for (const each of open) each.destroy()
    },
  }
}
