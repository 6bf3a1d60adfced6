import { spawn } from 'node:child_process'
import type { Service } from './service.ts'

/** Starts a console as an operator does. Its link works once. */
export async function startConsole(service: Service, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['src/cli/cli.ts', 'console', '--json'], {
    env: { ...service.environment, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const link = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (line) => resolve((JSON.parse(String(line)) as { link: string }).link))
    child.once('close', () => reject(new Error('the console exited')))
  })
  return {
    link,
    stop: () => {
      child.kill('SIGINT')
      return closed
    },
  }
}
