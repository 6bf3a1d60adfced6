import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

test('a line that is logged during a slow write is written as soon as that write ends, even if no other line is logged', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'support/stalled-log.ts')], { stdio: 'pipe' })
  onTestFinished(() => void child.kill())
  await once(child.stderr, 'data')
  let end = ''
  child.stdout.on('data', (chunk) => {
    end = (end + chunk).slice(-7)
  })
  await expect.poll(() => end).toBe('\nready\n')
})
