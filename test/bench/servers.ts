import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { processesUnder, processorTimeOf, statusOf } from '../support/processor-time.ts'

/** A server to start: a Node program that prints its URL on standard error. */
export type ServerSpec = {
  readonly name: string
  /** Arguments of Node, including the program. */
  readonly words: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Whether it uses this process's PostgreSQL server, whose cost is then added to its own. */
  readonly hasPostgres?: boolean
  /** Checks after the server has stopped whether its books balance. */
  readonly isBalanced?: () => boolean | Promise<boolean>
}

/** A server in a separate process. */
export type Server = {
  readonly port: number
  readonly child: ChildProcess
  /** From its start until it listened. */
  readonly startMs: number
  /** CPU time of its start. */
  readonly startCpuMs: number
  /** CPU time of the whole process tree so far. */
  readonly cpuMs: () => number
  /** Resident memory of the process tree now, without PostgreSQL, whose processes share most of theirs. */
  readonly memoryMiB: () => number
  readonly end: () => Promise<void>
}

/** Starts a server in `folder`, which gets its log; it ends with this process at the latest. */
export async function startServer(spec: ServerSpec, folder: string): Promise<Server> {
  const place = mkdtempSync(join(folder, 'log-'))
  const startedAt = performance.now()
  // The log goes to a file: a reader would compete for CPU time.
  const child = spawn(process.execPath, [...spec.words], {
    stdio: ['ignore', openSync(join(place, 'output.log'), 'w'), 'pipe', 'ipc'],
    env: { ...process.env, ...spec.environment },
  })
  running.add(child)
  const port = await portOf(child, spec.name)
  const startMs = performance.now() - startedAt
  const own = () => processesUnder(child.pid ?? 0)
  const all = () => [...own(), ...(spec.hasPostgres ? postgresProcesses() : [])]
  return {
    port,
    child,
    startMs,
    startCpuMs: sum(own().map(processorTimeOf)),
    cpuMs: () => sum(all().map(processorTimeOf)),
    memoryMiB: () => sum(own().map(memoryMiBOf)),
    end: async () => {
      running.delete(child)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(late)
    },
  }
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

function portOf(child: ChildProcess, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    const late = setTimeout(() => reject(new Error(`${name} did not start within 60 s: ${text}`)), 60_000)
    child.stderr?.on('data', (chunk) => {
      text = (text + chunk).slice(-4_000)
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]
      if (port === undefined) return
      clearTimeout(late)
      resolve(Number(port))
    })
    child.once('exit', (code) => {
      if (running.delete(child)) process.stderr.write(`${name} exited early with ${code}: ${text}\n`)
      reject(new Error(`${name} did not start`))
    })
  })
}

function postgresProcesses(): number[] {
  return processesUnder(process.pid).filter((pid) => statusOf(pid)?.name.startsWith('postgres'))
}

/** CPU time so far of this process's PostgreSQL server. */
export function postgresCpuMs(): number {
  return sum(postgresProcesses().map(processorTimeOf))
}

function memoryMiBOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0)
}
