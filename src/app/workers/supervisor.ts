import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { wallClockOf } from '../../core/ids.ts'
import { hasOneWriter, takenOverCode } from '../../database/database.ts'
import { sharedWindows } from '../../server/http/rate-limit.ts'
import type { Config } from '../config.ts'
import { createLogger, standardOutput } from '../logger.ts'
import { listenForAll } from '../metrics-server.ts'
import type { Backups } from '../scheduled-backups.ts'
import { startBackups } from '../scheduled-backups.ts'
import { freePort, requireFree } from './free-port.ts'
import type { FromSupervisor, ReaderDetails, ToSupervisor, WriterDetails } from './messages.ts'

const program = resolve(import.meta.dirname, '../main.ts')

/** A process that dies sooner than this after its start is followed by another only after a pause, which grows. */
const shortLifeMs = 2_000
const firstPauseMs = 100
const longestPauseMs = 5_000

/** How often is looked whether something was heard of each process, and after how many looks without it is ended. */
const lookMs = 1_000
const silentLooksLimit = 5

/** The same for one that takes the place of another and does not begin; the first may have a database to migrate. */
const startLooksLimit = 30

/** Each process bounds its own end; this is for one that does not. */
const endTimeoutMs = 9_800

type Role = { readonly name: string; readonly begin: () => ChildProcess; readonly alive: Set<ChildProcess> }

/**
 * Runs the service in several processes: `WORKERS` that answer requests and, where the database takes one writer only, one
 * that writes and one that sends webhooks. Another is started for each that dies.
 *
 * This process answers nothing itself, so there is little that could make it die. When it does all others end, and
 * whoever started it starts it again.
 */
export async function supervise(config: Config): Promise<void> {
  const output = standardOutput('supervisor')
  const logger = createLogger(config.logLevel, output, 'supervisor')

  // Before the writer takes the database over: one that is started twice by mistake must not end the first.
  const port = await (config.port === 0 ? freePort(config.host) : requireFree(config.host, config.port))
  const folder = hasOneWriter(config.databaseUrl) ? mkdtempSync(join(tmpdir(), 'payout-gateway-')) : null
  const writerPath = folder && join(folder, 'writer')
  // All readers accept from one socket, and the kernel resets what one of them had when it dies. Were they given their
  // connections by this process, as is the default, one that is given to a reader that dies just then would be lost: nobody
  // would answer it, and nobody close it. Nor does anyone wait here for a process that is stuck, this one included.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    exec: program,
    args: ['reader', JSON.stringify({ writerPath } satisfies ReaderDetails)],
  })
  const readers: Role = {
    name: 'reader',
    begin: () => cluster.fork({ PORT: String(port) }).process,
    alive: new Set(),
  }
  const writers: Role = {
    name: 'writer',
    begin: () => fork(program, ['writer', JSON.stringify({ writerPath } as WriterDetails)]),
    alive: new Set(),
  }
  const senders: Role = {
    name: 'sender',
    begin: () => fork(program, ['sender', JSON.stringify({ writerPath } as WriterDetails)]),
    alive: new Set(),
  }
  const windows = config.rateLimit === null ? null : sharedWindows(config.rateLimit, () => performance.now())
  const metering = config.metrics === null ? null : await listenForAll(config.metrics, logger)
  let isReady = false
  let isEnding = false
  let backups: Backups | null = null

  /** Starts a process of this role, and another whenever it dies; resolves with what the first says when it is ready. */
  function keep(role: Role, pauseMs = 0): Promise<string> {
    const child = role.begin()
    const pid = child.pid as number
    const begunAt = performance.now()
    role.alive.add(child)
    metering?.add(child, { canRead: role === readers })
    child.once('exit', (code, signal) => {
      role.alive.delete(child)
      windows?.forget(pid)
      if (isEnding) return
      // It has said so itself; another writer would take the database back.
      if (code === takenOverCode) return drain(null, takenOverCode)
      // It has said itself why it could not start.
      if (!isReady) return endAtOnce(1)
      const isShort = performance.now() - begunAt < shortLifeMs
      const nextPauseMs = isShort ? Math.min(longestPauseMs, Math.max(firstPauseMs, pauseMs * 2)) : 0
      logger.error(
        { child_role: role.name, child_pid: pid, code, signal, pause_ms: nextPauseMs },
        'a process died: starting another',
      )
      setTimeout(() => isEnding || keep(role, nextPauseMs), nextPauseMs)
    })
    return new Promise((resolve) => {
      let silentLooks = 0
      let looksLimit = startLooksLimit
      let looking: NodeJS.Timeout | undefined
      // Looks are counted, not time: when this process was stuck itself, it has heard nothing of anyone.
      const look = () => {
        if (++silentLooks < looksLimit || isEnding) return
        logger.error(
          { child_role: role.name, child_pid: pid, silent_ms: silentLooks * lookMs },
          'a process is stuck: ending it',
        )
        child.kill('SIGKILL')
      }
      if (isReady) looking = setInterval(look, lookMs)
      child.once('exit', () => clearInterval(looking))
      child.on('message', (message: ToSupervisor) => {
        silentLooks = 0
        if ('ready' in message) {
          looksLimit = silentLooksLimit
          looking ??= setInterval(look, lookMs)
          return resolve(message.ready)
        }
        if (!('exchange' in message) || windows === null || !child.connected) return
        const exchanged = windows.exchange(pid, message.exchange)
        child.send({ id: message.id, exchanged } satisfies FromSupervisor, () => {})
      })
    })
  }

  function endAtOnce(code: number): void {
    isEnding = true
    for (const child of [...readers.alive, ...senders.alive, ...writers.alive]) child.kill('SIGKILL')
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
    process.exit(code)
  }

  async function drain(signal: string | null, code = 0): Promise<void> {
    if (isEnding) return
    isEnding = true
    logger.info({ signal }, 'draining')
    process.exitCode = code
    setTimeout(() => endAtOnce(1), endTimeoutMs).unref()
    const ending = [readers, senders].map((role) => endOf(role, (child) => child.kill('SIGTERM')))
    await Promise.all([...ending, backups?.stop()])
    // The writer heeds no signal: it ends when nobody can need it any more.
    await endOf(writers, (child) => child.connected && child.disconnect())
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
    metering?.close()
    logger.info('ended')
    output.end()
  }

  process.on('SIGTERM', (signal) => drain(signal))
  process.on('SIGINT', (signal) => drain(signal))
  if (writerPath !== null) await keep(writers)
  const [greeting] = await Promise.all([
    ...Array.from({ length: config.workers }, () => keep(readers)),
    ...(writerPath === null ? [] : [keep(senders)]),
  ])
  isReady = true
  // Where any process writes, nobody else makes them once.
  if (writerPath === null && !isEnding) backups = startBackups(config, { wallClock: wallClockOf() }, logger)
  process.stderr.write(greeting as string)
}

/** Has all processes of a role end, and waits for it. */
async function endOf({ alive }: Role, tell: (child: ChildProcess) => unknown): Promise<void> {
  await Promise.all(
    [...alive].map((child) => {
      const ended = once(child, 'exit')
      tell(child)
      return ended
    }),
  )
}
