import type { DestinationStream, Logger } from 'pino'
import { pino } from 'pino'
import { systemTimestamp } from '../core/ids-and-clock.ts'
import type { AccessLog } from '../server/http/request-lifecycle.ts'
import type { Config } from './config.ts'

/** If the reader of the log stalls, further log lines are dropped, because payouts are more important than the log. */
const maxBufferedBytes = 64 * 1024 * 1024

/** The role `service` is used if the service has a single process. */
export type ProcessRole = 'service' | 'supervisor' | 'reader' | 'writer' | 'sender' | 'console'

/**
 * PIPE_BUF of Linux is 4,096. Larger writes to a pipe are not atomic, so log lines of different processes could mix.
 */
const maxPipeWriteBytes = 4_096

/** A service with a single process can write larger chunks, which take less time per log line. */
const maxWriteBytes = 64 * 1024

/**
 * Writes the log as JSON lines without API keys and account numbers. Logging never waits for the reader of the log.
 *
 * A log line contains the route of a request without parameters, so only error messages could contain account numbers.
 * Long numbers are redacted in error messages. API keys are redacted in the whole log line.
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

/**
 * `end` closes the log. After `end`, the process exits as soon as the remaining log lines are written. If writing is
 * impossible, `end` kills the process.
 */
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
  // A full disk or a closed pipe must not stop payouts, so log lines are dropped until writing works again.
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

/** Flushes the buffered log lines `flushDelayMs` after the first buffered line. */
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
 * Error messages of database engines and JavaScript can quote anything that a caller sent. Therefore quoted values are
 * removed from error messages, and a logged stack contains only the stack frames.
 */
function serializeError(error: Error) {
  const { type, message, stack, code } = pino.stdSerializers.err(error) as Record<string, unknown>
  const frames = String(stack)
    .match(/^ +at .*$/gm)
    ?.join('\n')
  return { type, code, message: redactValues(String(message), type), stack: frames }
}

/**
 * Redacts quoted text and six or more digits, which could be an account number. Redacts the whole message of a syntax
 * error, because a syntax error quotes text without quotation marks.
 */
function redactValues(message: string, type: unknown): string {
  if (type === 'SyntaxError') return '[redacted]'
  // API keys are redacted before digits, because the pattern for API keys would not match a key with redacted digits.
  return redactApiKeys(message).replace(/".*"|'.*'|`.*`|\{.*\}|\(.*\)|\d{6,}/gs, '[redacted]')
}

/**
 * A failure can repeat for thousands of endpoints or orders. Therefore the same message is logged only once per
 * interval.
 */
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
