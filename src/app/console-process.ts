import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from './config.ts'
import type { ProcessResources } from './start.ts'

const mainPath = resolve(import.meta.dirname, 'main.ts')

/** If the console process exits within `minLifetimeMs`, the next restart delay is doubled. */
const initialBackoffMs = 500
const maxBackoffMs = 60_000
const minLifetimeMs = 10_000

const stopTimeoutMs = 5_000

export type ConsoleProcess = { readonly stop: () => Promise<void> }

/** Starts the console in a process of its own, so that slow pages and password checks do not delay payouts. */
export function startConsoleProcess({ console }: Config, logger: ProcessResources['logger']): ConsoleProcess {
  if (console === null) return { stop: async () => {} }
  let child: ChildProcess | null = null
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let backoffMs = initialBackoffMs

  function start(): void {
    const startedAt = performance.now()
    child = fork(mainPath, ['console'])
    lowerPriority(child.pid)
    // If a child process cannot be started, Node.js emits the event `error` but not `exit`.
    child.once('error', (error) => child?.pid === undefined && restart(startedAt, { err: error }))
    child.once('exit', (code, signal) => restart(startedAt, { code, signal }))
  }

  function restart(startedAt: number, reason: object): void {
    child = null
    if (isStopped) return
    if (performance.now() - startedAt > minLifetimeMs) backoffMs = initialBackoffMs
    logger.error({ ...reason, pause_ms: backoffMs }, 'console process died, will restart')
    timer = setTimeout(start, backoffMs)
    backoffMs = Math.min(maxBackoffMs, backoffMs * 2)
  }

  start()
  return {
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      if (child !== null) await stopChild(child)
    },
  }
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, 10)
  } catch {
    // The process has already ended.
  }
}

function stopChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGTERM')
  })
}
