import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createWallClock } from '../../core/ids-and-clock.ts'
import { isSingleWriter, takenOverExitCode } from '../../database/database.ts'
import { createSharedWindows } from '../../server/http/rate-limit.ts'
import type { Config } from '../config.ts'
import type { ConsoleProcess } from '../console-process.ts'
import { startConsoleProcess } from '../console-process.ts'
import { createLogger, standardOutput } from '../logger.ts'
import { findFreePort, requireFreePort } from '../ports.ts'
import type { BackupSchedule } from '../scheduled-backups.ts'
import { startBackupSchedule } from '../scheduled-backups.ts'
import { serveSupervisorMetrics } from '../telemetry.ts'
import type { MessageFromSupervisor, MessageToSupervisor, ReaderArgs, WriterArgs } from './messages.ts'

const mainPath = resolve(import.meta.dirname, '../main.ts')

/** A process that dies within `minLifetimeMs` is restarted with exponential backoff. */
const minLifetimeMs = 2_000
const initialBackoffMs = 100
const maxBackoffMs = 5_000

/** A process is killed if `maxMissedHeartbeats` checks find no heartbeat. */
const heartbeatCheckIntervalMs = 1_000
const maxMissedHeartbeats = 5

/**
 * The maximum number of missed heartbeats while a replacement process starts. The first processes of a service have no
 * limit of missed heartbeats, because they may have to migrate the database.
 */
const maxMissedStartHeartbeats = 30

const shutdownTimeoutMs = 9_800

type ProcessGroup = { readonly name: string; readonly spawn: () => ChildProcess; readonly children: Set<ChildProcess> }

/**
 * Runs `WORKERS` readers and, on SQLite, a writer and a webhook sender. Restarts a process that dies.
 *
 * If the supervisor dies, the other processes end, and the service manager restarts the service.
 */
export async function supervise(config: Config): Promise<void> {
  const output = standardOutput('supervisor')
  const logger = createLogger(config.logLevel, output, 'supervisor')

  // The port is checked before the writer takes over the database. Without the check, starting the service twice by
  // mistake would end the first service.
  const port = await (config.port === 0 ? findFreePort(config.host) : requireFreePort(config.host, config.port))
  const folder = isSingleWriter(config.databaseUrl) ? mkdtempSync(join(tmpdir(), 'payout-gateway-')) : null
  const writerPath = folder && join(folder, 'writer')
  // With SCHED_NONE, all reader processes accept connections from one socket, and the kernel resets the connections of
  // a reader that dies. With SCHED_RR, the supervisor would distribute the connections. With SCHED_RR, a stuck
  // supervisor would delay all requests, and connections of a dying reader could stay open without a response.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    exec: mainPath,
    args: ['reader', JSON.stringify({ writerPath } satisfies ReaderArgs)],
  })
  const readers: ProcessGroup = {
    name: 'reader',
    spawn: () => cluster.fork({ PORT: String(port) }).process,
    children: new Set(),
  }
  const writers: ProcessGroup = {
    name: 'writer',
    spawn: () => fork(mainPath, ['writer', JSON.stringify({ writerPath } as WriterArgs)]),
    children: new Set(),
  }
  const senders: ProcessGroup = {
    name: 'sender',
    spawn: () => fork(mainPath, ['sender', JSON.stringify({ writerPath } as WriterArgs)]),
    children: new Set(),
  }
  const windows = config.rateLimit === null ? null : createSharedWindows(config.rateLimit, () => performance.now())
  const metrics = config.metrics === null ? null : await serveSupervisorMetrics(config.metrics, logger)
  let isReady = false
  let isEnding = false
  let backups: BackupSchedule | null = null
  let consoleProcess: ConsoleProcess | null = null

  function spawnAndRestart(role: ProcessGroup, pauseMs = 0): Promise<string> {
    const child = role.spawn()
    const pid = child.pid as number
    const begunAt = performance.now()
    role.children.add(child)
    metrics?.add(child, { canRead: role === readers })
    child.once('exit', (code, signal) => {
      role.children.delete(child)
      windows?.forget(pid)
      if (isEnding) return
      // Another service has taken over the database, so the writer is not restarted.
      if (code === takenOverExitCode) return drain(null, takenOverExitCode)
      // The process has already printed why it could not start.
      if (!isReady) return killAllAndExit(1)
      const isShort = performance.now() - begunAt < minLifetimeMs
      const nextPauseMs = isShort ? Math.min(maxBackoffMs, Math.max(initialBackoffMs, pauseMs * 2)) : 0
      logger.error(
        { child_role: role.name, child_pid: pid, code, signal, pause_ms: nextPauseMs },
        'worker process died, will restart',
      )
      setTimeout(() => isEnding || spawnAndRestart(role, nextPauseMs), nextPauseMs)
    })
    return new Promise((resolve) => {
      let missedHeartbeats = 0
      let maxMissed = maxMissedStartHeartbeats
      let heartbeatTimer: NodeJS.Timeout | undefined
      // Missed checks are counted instead of the elapsed time, because a stuck supervisor processes heartbeats late.
      const checkHeartbeat = () => {
        if (++missedHeartbeats < maxMissed || isEnding) return
        logger.error(
          { child_role: role.name, child_pid: pid, silent_ms: missedHeartbeats * heartbeatCheckIntervalMs },
          'worker process is stuck, killing it',
        )
        child.kill('SIGKILL')
      }
      if (isReady) heartbeatTimer = setInterval(checkHeartbeat, heartbeatCheckIntervalMs)
      child.once('exit', () => clearInterval(heartbeatTimer))
      child.on('message', (message: MessageToSupervisor) => {
        missedHeartbeats = 0
        if ('ready' in message) {
          maxMissed = maxMissedHeartbeats
          heartbeatTimer ??= setInterval(checkHeartbeat, heartbeatCheckIntervalMs)
          return resolve(message.ready)
        }
        if (!('exchange' in message) || windows === null || !child.connected) return
        const exchanged = windows.exchange(pid, message.exchange)
        child.send({ id: message.id, exchanged } satisfies MessageFromSupervisor, () => {})
      })
    })
  }

  function killAllAndExit(code: number): void {
    isEnding = true
    for (const child of [...readers.children, ...senders.children, ...writers.children]) child.kill('SIGKILL')
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
    process.exit(code)
  }

  async function drain(signal: string | null, code = 0): Promise<void> {
    if (isEnding) return
    isEnding = true
    logger.info({ signal }, 'shutdown has begun, waiting for running requests')
    process.exitCode = code
    setTimeout(() => killAllAndExit(1), shutdownTimeoutMs).unref()
    const ending = [readers, senders].map((role) => stopGroup(role, (child) => child.kill('SIGTERM')))
    await Promise.all([...ending, backups?.stop(), consoleProcess?.stop()])
    // The writer ends last. The writer ignores signals, and ends when the channel to the supervisor closes.
    await stopGroup(writers, (child) => child.connected && child.disconnect())
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
    metrics?.close()
    logger.info('shutdown is complete')
    output.end()
  }

  process.on('SIGTERM', (signal) => drain(signal))
  process.on('SIGINT', (signal) => drain(signal))
  if (writerPath !== null) await spawnAndRestart(writers)
  const [startupMessage] = await Promise.all([
    ...Array.from({ length: config.workers }, () => spawnAndRestart(readers)),
    ...(writerPath === null ? [] : [spawnAndRestart(senders)]),
  ])
  isReady = true
  // On PostgreSQL the supervisor schedules backups, because there is no writer process.
  if (writerPath === null && !isEnding) backups = startBackupSchedule(config, { wallClock: createWallClock() }, logger)
  if (!isEnding) consoleProcess = startConsoleProcess(config, logger)
  process.stderr.write(startupMessage as string)
}

async function stopGroup({ children }: ProcessGroup, stop: (child: ChildProcess) => unknown): Promise<void> {
  await Promise.all(
    [...children].map((child) => {
      const ended = once(child, 'exit')
      stop(child)
      return ended
    }),
  )
}
