import { connect } from 'node:net'

/** Returns the service's response to raw bytes, until it closes the connection or stays silent for some time. */
export function exchange(port: number, sent: string | Buffer, quietMs: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setTimeout(quietMs, () => socket.destroy())
    socket.on('data', (bytes) => {
      received += bytes
    })
    // A reset connection counts as a response.
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
    socket.write(sent)
  })
}
