import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { freePort } from '../support/free-port.ts'
import { createDemoInstallation } from '../support/process.ts'

const root = resolve(import.meta.dirname, '../..')

test.each(['1', '2'])(
  'a service with WORKERS=%s whose standard output is a closed pipe serves requests, and exits on SIGTERM',
  async (WORKERS) => {
    const place = await createDemoInstallation()
    const port = await freePort()
    const child = spawn(process.execPath, ['src/app/main.ts'], {
      cwd: root,
      env: { ...place.env, PORT: String(port), WORKERS },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    // As in `node src/main.js 2>&1 | true`: later output meets a closed pipe.
    child.stdout.destroy()
    child.stderr.destroy()

    const wallets = async () => {
      const headers = { 'x-api-key': demoApiKey }
      const response = await fetch(`http://127.0.0.1:${port}/api/wallets`, { headers }).catch(() => null)
      return response?.status ?? child.exitCode ?? child.signalCode
    }
    await expect.poll(wallets, { timeout: 200_000 }).toBe(200)
    // It still responds after all output of its start and these requests has failed.
    for (let i = 0; i < 20; i++) expect(await wallets()).toBe(200)

    child.kill('SIGTERM')
    await ended
    expect(await wallets()).not.toBe(200)
  },
)
