import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'

/** Sends a value to the other end; it throws for one that can't be sent. */
export type ChannelSend = (value: unknown) => void

/** A value is sent as its length, in four bytes, and its form as V8 writes it: bigints and `undefined` included. */
const frameHeaderBytes = 4

/**
 * Carries values over a socket. What is sent within a turn of the event loop leaves together, and so what one commit
 * answers comes back together.
 *
 * Both ends are processes of this program and version, so nothing is checked.
 */
export function openChannel(socket: Socket, onValue: (value: never) => void): ChannelSend {
  let waiting: Buffer[] = []
  const flush = () => {
    socket.write(Buffer.concat(waiting))
    waiting = []
  }
  socket.on(
    'data',
    createFrameReader((frame) => onValue(deserialize(frame) as never)),
  )
  return (value) => {
    const frame = serialize(value)
    const head = Buffer.allocUnsafe(frameHeaderBytes)
    head.writeUInt32BE(frame.length)
    if (waiting.length === 0) setImmediate(flush)
    waiting.push(head, frame)
  }
}

/** Cuts a stream of bytes into frames, however it arrives. */
export function createFrameReader(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let length = 0
  return (chunk) => {
    chunks.push(chunk)
    length += chunk.length
    // Joined only when a frame is whole, so that a large one is not copied with each of its pieces.
    if (length < frameHeaderBytes || length < frameHeaderBytes + firstFrameLength(chunks)) return
    let rest = Buffer.concat(chunks)
    while (rest.length >= frameHeaderBytes) {
      const end = frameHeaderBytes + rest.readUInt32BE()
      if (rest.length < end) break
      onFrame(rest.subarray(frameHeaderBytes, end))
      rest = rest.subarray(end)
    }
    chunks = [rest]
    length = rest.length
  }
}

/** The length of the first frame, whose head may lie in several chunks. */
function firstFrameLength(chunks: readonly Buffer[]): number {
  const [first = Buffer.alloc(0)] = chunks
  return (first.length >= frameHeaderBytes ? first : Buffer.concat(chunks)).readUInt32BE()
}
