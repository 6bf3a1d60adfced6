import { connect } from 'node:net'

/** What a service answers to these bytes until it ends the connection, or until nothing came for so long. */
export function exchange(port: number, sent: string | Buffer, quietMs: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setTimeout(quietMs, () => socket.destroy())
    socket.on('data', (bytes) => {
      received += bytes
    })
    // A connection that the service resets has been answered by that.
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
    socket.write(sent)
  })
}
