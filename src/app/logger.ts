import type { DestinationStream, Logger } from 'pino'
import { pino } from 'pino'
import { systemTimestamp } from '../core/ids-and-clock.ts'
import type { AccessLog } from '../server/http/request-lifecycle.ts'
import type { Config } from './config.ts'

/** Lines that a stalled reader leaves in memory; beyond it they are dropped, because payouts matter more than their log. */
const maxBufferedBytes = 64 * 1024 * 1024

/** What a process is for: `service` is the only one, the others run beside one another (`WORKERS`). */
export type ProcessRole = 'service' | 'supervisor' | 'reader' | 'writer' | 'sender'

/** What a pipe takes as a whole: larger writes of several processes to one log would mix their lines. */
const maxPipeWriteBytes = 4_096

/** What the only process writes at once: each write costs as much as a few small answers. */
const maxWriteBytes = 64 * 1024

/**
 * JSON lines on standard output, each of this process in its `role`, without API keys and account numbers.
 *
 * Lines say which route was asked for, never with what, so only an error's own text could carry either: keys are blanked
 * in the finished line, long numbers in errors. Writing does not wait for the reader of the log.
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
  // Plain data needs nothing of pino, which takes three times as long; the line is the one that it would write.
  const logAnswer: AccessLog['answered'] = (answer) => {
    if (!logger.isLevelEnabled('info')) return
    const line = `{"level":"info","time":"${systemTimestamp()}${rest}${JSON.stringify(answer).slice(1)}\n`
    destination.write(redactApiKeys(line))
  }
  return Object.assign(logger, { answered: logAnswer })
}

/** How long a line waits for others at most, to be written with them. */
const flushDelayMs = 10

/** Where a log goes; `end` lets the process end once it is written, or now where it can't be. */
export type LogOutput = DestinationStream & { readonly end: () => void }

/** Standard output as the destination of the log of a process in its `role`, written in the background. */
export function standardOutput(role: ProcessRole = 'service'): LogOutput {
  const isAlone = role === 'service'
  const maxWrite = isAlone ? maxWriteBytes : maxPipeWriteBytes
  const stream = pino.destination({
    dest: 1,
    sync: false,
    maxLength: maxBufferedBytes,
    // Full but for a line or two, a write goes at once.
    minLength: maxWrite - 1_024,
    maxWrite,
    // Of texts it would measure all that waits with each line that comes.
    contentMode: 'buffer',
  })
  // A full log disk or a reader that is gone must not stop payouts: lines are lost until there is room again.
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
      // Its types know texts only.
      stream.write(bytes as never)
    },
    end: () => {
      isEnded = true
      stop()
      // pino would go on trying, and never let the process end.
      if (isBroken) process.kill(process.pid, 'SIGKILL')
      else stream.end()
    },
  }
}

/** Has lines written a moment after the first of them, and those that come while others are being written after these. */
function scheduleFlushes(stream: ReturnType<typeof pino.destination>) {
  let due: NodeJS.Timeout | null = null
  const flush = () => {
    due = null
    stream.flush()
  }
  const flushSoon = () => {
    due ??= setTimeout(flush, flushDelayMs).unref()
  }
  // While one write is under way no other is begun: what was due meanwhile would wait for a line that may never come.
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
 * An error as it is logged: its frames, and its message without values. Engines and JavaScript quote in it what they were
 * given, and that may be anything that a caller sent.
 */
function serializeError(error: Error) {
  const { type, message, stack, code } = pino.stdSerializers.err(error) as Record<string, unknown>
  const frames = String(stack)
    .match(/^ +at .*$/gm)
    ?.join('\n')
  return { type, code, message: redactValues(String(message), type), stack: frames }
}

/** Six digits or more may be an account number; a syntax error is about a text, and quotes it without quotation marks. */
function redactValues(message: string, type: unknown): string {
  if (type === 'SyntaxError') return '[redacted]'
  // Keys first: one with a number blanked inside it would no longer be known for a key.
  return redactApiKeys(message).replace(/".*"|'.*'|`.*`|\{.*\}|\(.*\)|\d{6,}/gs, '[redacted]')
}
