import type { DestinationStream, Logger } from 'pino'
import { pino } from 'pino'
import { systemTimestamp } from '../core/ids-and-clock.ts'
import type { AccessLog } from '../server/http/request-lifecycle.ts'
import type { Config } from './config.ts'

/** If the reader of the log stalls, the logger drops further lines, because payouts matter more than their log. */
const maxBufferedBytes = 64 * 1024 * 1024

/**
 * The role `service` is a service that runs as a single process. Each other role is one process of a service with
 * several processes.
 */
export type ProcessRole = 'service' | 'supervisor' | 'reader' | 'writer' | 'sender' | 'console'

/**
 * PIPE_BUF of Linux is 4,096. Larger writes to a pipe are not atomic, so the log lines of several processes would mix.
 */
const maxPipeWriteBytes = 4_096

/**
 * A service with a single process writes larger chunks of its log, because each write takes as long as a few small
 * responses.
 */
const maxWriteBytes = 64 * 1024

/**
 * Writes the log as JSON lines without API keys and account numbers. Logging never waits for the reader of the log.
 *
 * A log line has the route of a request but not its values, so only an error's text could contain an API key or account
 * number. API keys are redacted in the finished line, and long numbers in the text of errors.
 */
export function createLogger(
  level: Config['logLevel'],
  destination: DestinationStream,
  role: ProcessRole = 'service',
): Logger & AccessLog {
  const logger = pino(
    {
      level,
      base: { pid: process.pid, role },
      timestamp: () => `,"time":"${systemTimestamp()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      hooks: { streamWrite: redactApiKeys },
    },
    destination,
  )
  const rest = `","pid":${process.pid},"role":"${role}",`
  const logAnswer: AccessLog['answered'] = (entry) => {
    if (!logger.isLevelEnabled('info')) return
    const line = `{"level":"info","time":"${systemTimestamp()}${rest}${JSON.stringify(entry).slice(1)}\n`
    destination.write(redactApiKeys(line))
  }
  return Object.assign(logger, { answered: logAnswer })
}

const flushDelayMs = 10

/** `end` lets the process exit after all log lines are written, or immediately if they cannot be written. */
export type LogOutput = DestinationStream & { readonly end: () => void }

export function standardOutput(role: ProcessRole = 'service'): LogOutput {
  const isAlone = role === 'service'
  const maxWrite = isAlone ? maxWriteBytes : maxPipeWriteBytes
  const stream = pino.destination({
    dest: 1,
    sync: false,
    maxLength: maxBufferedBytes,
    minLength: maxWrite - 1_024,
    maxWrite,
    contentMode: 'buffer',
  })
  // A full disk or a closed pipe must not stop payouts, so log lines are lost until writing works again.
  let isBroken = false
  stream.on('error', () => {
    isBroken = true
  })
  let isEnded = false
  const { hasLine, stop } = scheduleFlushes(stream)
  return {
    write: (line) => {
      if (isEnded) return
      const bytes = Buffer.from(line)
      hasLine(bytes)
      stream.write(bytes as never)
    },
    end: () => {
      isEnded = true
      stop()
      // pino would retry a failed write indefinitely and keep the process alive.
      if (isBroken) process.kill(process.pid, 'SIGKILL')
      else stream.end()
    },
  }
}

/**
 * Flushes buffered log lines shortly after the first line. Log lines that arrive during a write are flushed after the
 * write.
 */
function scheduleFlushes(stream: ReturnType<typeof pino.destination>) {
  let due: NodeJS.Timeout | null = null
  const flush = () => {
    due = null
    stream.flush()
  }
  const flushSoon = () => {
    due ??= setTimeout(flush, flushDelayMs).unref()
  }
  let [unwritten, hasMore] = [0, false]
  stream.on('write', (bytes: number) => {
    unwritten -= bytes
  })
  stream.on('drop', (line: Buffer) => {
    unwritten -= line.length
  })
  stream.on('drain', () => {
    if (hasMore && unwritten > 0) flushSoon()
    hasMore = false
  })
  return {
    hasLine: ({ length }: Buffer) => {
      unwritten += length
      hasMore = true
      flushSoon()
    },
    stop: () => {
      if (due !== null) clearTimeout(due)
    },
  }
}

const apiKeyPattern = /pgw_[a-z]+_[0-9a-z_]+/gi

function redactApiKeys(line: string): string {
  return line.includes('pgw_') ? line.replace(apiKeyPattern, '[redacted]') : line
}

/**
 * Error messages of database engines and JavaScript can quote anything that a caller sent. So an error is logged with
 * only its stack frames and a message without values.
 */
function serializeError(error: Error) {
  const { type, message, stack, code } = pino.stdSerializers.err(error) as Record<string, unknown>
  const frames = String(stack)
    .match(/^ +at .*$/gm)
    ?.join('\n')
  return { type, code, message: redactValues(String(message), type), stack: frames }
}

/**
 * Redacts quoted text, six or more digits (possibly an account number), and syntax errors, which quote text without
 * quotation marks.
 */
function redactValues(message: string, type: unknown): string {
  if (type === 'SyntaxError') return '[redacted]'
  // API keys are redacted first: an API key whose digits are already redacted would no longer match the pattern.
  return redactApiKeys(message).replace(/".*"|'.*'|`.*`|\{.*\}|\(.*\)|\d{6,}/gs, '[redacted]')
}

/** A failure can repeat for thousands of endpoints or orders, so the same message is logged once in this interval. */
const repeatIntervalMs = 10 * 60 * 1000

const maxRememberedMessages = 100

export function throttleByMessage(report: (error: unknown) => void): (error: unknown) => void {
  const reportedAt = new Map<string, number>()
  return (error) => {
    const message = String(error)
    const now = performance.now()
    if (now - (reportedAt.get(message) ?? Number.NEGATIVE_INFINITY) < repeatIntervalMs) return
    if (reportedAt.size >= maxRememberedMessages) reportedAt.clear()
    reportedAt.set(message, now)
    report(error)
  }
}
