import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'

export type ChannelSend = (value: unknown) => void

/**
 * A frame of the channel is a header of four bytes, followed by a value in V8's serialization format. The header
 * contains the length of the value. V8's serialization format preserves bigints and `undefined`.
 */
const frameHeaderBytes = 4

/**
 * Sends all values of one event-loop iteration in a single write. Both ends of the channel run the same version of this
 * program, so received values are not validated.
 */
export function openChannel(socket: Socket, onValue: (value: never) => void): ChannelSend {
  let queued: Buffer[] = []
  const flush = () => {
    socket.write(Buffer.concat(queued))
    queued = []
  }
  socket.on(
    'data',
    createFrameReader((frame) => onValue(deserialize(frame) as never)),
  )
  return (value) => {
    const frame = serialize(value)
    const header = Buffer.allocUnsafe(frameHeaderBytes)
    header.writeUInt32BE(frame.length)
    if (queued.length === 0) setImmediate(flush)
    queued.push(header, frame)
  }
}

export function createFrameReader(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let length = 0
  return (chunk) => {
    chunks.push(chunk)
    length += chunk.length
    // Chunks are concatenated when a frame is complete, so that the bytes of a large frame are copied only once.
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

/** The header of the first frame can span several chunks. */
function firstFrameLength(chunks: readonly Buffer[]): number {
  const [first = Buffer.alloc(0)] = chunks
  return (first.length >= frameHeaderBytes ? first : Buffer.concat(chunks)).readUInt32BE()
}
