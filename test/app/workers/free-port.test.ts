import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { findFreePort, requireFreePort } from '../../../src/app/ports.ts'

test('findFreePort returns a port that a server can listen on and that is outside the ephemeral range', async () => {
  const port = await findFreePort('127.0.0.1')
  expect(port).toBeGreaterThanOrEqual(20_000)
  expect(port).toBeLessThan(32_768)
  expect(await requireFreePort('127.0.0.1', port)).toBe(port)
})

test('requireFreePort fails if the port is in use, and reports which variable to change', async () => {
  const port = await findFreePort('127.0.0.1')
  const taken = createServer().listen(port, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')

  await expect(requireFreePort('127.0.0.1', port)).rejects.toThrow(
    `Cannot listen on 127.0.0.1, port ${port} (EADDRINUSE): another program uses it. Set PORT to another one`,
  )
})

test('findFreePort fails if the address does not belong to this machine, and reports which variable to change', async () => {
  await expect(findFreePort('192.0.2.1')).rejects.toThrow('Set HOST to one that it has')
})
