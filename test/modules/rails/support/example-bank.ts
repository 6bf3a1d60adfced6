import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { generateSharedSecret } from '../../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { freePort } from '../../../support/free-port.ts'

const examples = join(import.meta.dirname, '../../../../examples')

export const exampleBanks = {
  TypeScript: [process.execPath, join(examples, 'rail-server/server.ts')],
  Python: ['python3', join(examples, 'rail-server-python/server.py')],
} as const

/** Prepares an example bank: its address, its secret, and a folder for its data. */
export async function placeForBank(language: keyof typeof exampleBanks) {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-bank-'))
  const [port, secret] = [await freePort(), generateSharedSecret()]
  const [command, path] = exampleBanks[language]
  const { PATH = '' } = process.env
  onTestFinished(() => rm(folder, { recursive: true }))
  return {
    at: { name: 'bank', url: `http://127.0.0.1:${port}`, secrets: [secret] },
    secret,
    start: async (environment: Record<string, string> = {}) => {
      const env = { PATH, PORT: String(port), RAIL_SECRET: secret, ...environment }
      const child = spawn(command, [path], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = once(child, 'exit')
      const kill = async () => {
        child.kill('SIGKILL')
        await ended
      }
      onTestFinished(kill)
      const isOver = ended.then(() => Promise.reject(new Error('the bank ended')))
      await Promise.race([once(child.stdout, 'data'), isOver])
      isOver.catch(() => {})
      return { kill }
    },
  }
}
