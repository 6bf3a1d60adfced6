import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createFrameReader, openChannel } from '../../../src/app/workers/channel.ts'
import { createEmptyInstallation } from '../../support/process.ts'

test('the frame reader returns every sent frame, for chunks of any size', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 400 })),
      (frames, sizes) => {
        const bytes = Buffer.concat(
          frames.flatMap((frame) => {
            const head = Buffer.alloc(4)
            head.writeUInt32BE(frame.length)
            return [head, frame]
          }),
        )
        const received: Buffer[] = []
        const take = createFrameReader((frame) => received.push(Buffer.from(frame)))
        for (let at = 0; at < bytes.length; ) {
          const { value: size } = sizes.next()
          take(bytes.subarray(at, at + size))
          at += size
        }
        expect(received).toEqual(frames.map((frame) => Buffer.from(frame)))
      },
    ),
  )
})

test('a channel between two processes transmits every type of value that operations use, and keeps the order of the values', async () => {
  const { folder } = await createEmptyInstallation()
  const path = join(folder, 'socket')
  const server = createServer((socket) => {
    const send = openChannel(socket, (value) => send(value))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const socket = connect(path)
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  const values = [
    { amount: 9_223_372_036_854_775_807n, absent: undefined, nothing: null },
    { text: '\0 \ud800 \u202e é', list: [1, [true]] },
    JSON.parse('{"__proto__": {"polluted": 1}, "constructor": "x"}'),
    'x'.repeat(3_000_000),
  ]

  const received = await new Promise<unknown[]>((resolve) => {
    const taken: unknown[] = []
    const send = openChannel(socket, (value) => {
      if (taken.push(value) === values.length) resolve(taken)
    })
    for (const value of values) send(value)
  })

  expect(received).toEqual(values)
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
})
