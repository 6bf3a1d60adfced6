import { once } from 'node:events'
import type { WriteStream } from 'node:tty'
import type { GenericFormatter } from 'cli-progress'
import cliProgress from 'cli-progress'

const { Format, SingleBar } = cliProgress

export type Progress = {
  /** @param label the units @param done the number of completed units of the `total` */
  readonly show: (label: string, done: number, total: number) => void
  readonly end: () => void
}

export const noProgress: Progress = { show: () => {}, end: () => {} }

export function createProgress(stream: WriteStream | undefined): Progress {
  if (!stream?.isTTY) return noProgress
  let current: { readonly total: number; done: number; readonly bar: InstanceType<typeof SingleBar> } | null = null
  let isEnded = false
  const stopBar = () => {
    current?.bar.stop()
    current = null
  }
  return {
    show: (label, done, total) => {
      if (isEnded) return
      if (current !== null && (current.total !== total || done < current.done)) stopBar()
      if (current === null) {
        // Line wrapping stays on. If the progress bar turned off line wrapping, a killed process would leave line
        // wrapping off.
        const bar = new SingleBar({ stream, format: formatBar, fps: 25, barsize: 20, linewrap: true, etaBuffer: 50 })
        current = { total, done, bar }
        bar.start(total, done, { label })
      } else {
        current.done = done
        current.bar.update(done, { label })
      }
      if (done >= total) stopBar()
    },
    end: () => {
      isEnded = true
      stopBar()
    },
  }
}

const formatBar: GenericFormatter = (options, { progress, value, total, startTime, stopTime, eta }, { label }) => {
  const seconds = ((stopTime ?? Date.now()) - startTime) / 1_000
  const rate = seconds > 0 ? Math.round(value / seconds) : 0
  // `eta` is a string if the remaining time is unknown.
  const left = typeof eta === 'number' && value < total ? ` ${Format.TimeFormat(eta, options, 1)} left` : ''
  const numbers = `${Math.floor(progress * 100)} % ${formatCount(value)}/${formatCount(total)} ${formatCount(rate)}/s`
  return `[${Format.BarFormat(progress, options)}] ${numbers}${left} ${label}`
}

function formatCount(value: number): string {
  return value.toLocaleString('en')
}

let outputError: NodeJS.ErrnoException | null = null

/**
 * Without error listeners, a failed write would end the process with a stack trace, possibly before the command has run.
 * If the reader of standard output closed the pipe, the exit code does not change. After any other error, the exit code
 * is 1.
 */
export function watchOutputErrors(): void {
  process.stdout.on('error', (error) => {
    outputError = error
  })
  process.stderr.on('error', () => {})
  process.on('exit', (code) => {
    if (outputError === null || outputError.code === 'EPIPE' || code !== 0) return
    process.stderr.write(`${incompleteOutputMessage(outputError)}\n`)
    process.exitCode = 1
  })
}

function incompleteOutputMessage({ code, message }: NodeJS.ErrnoException): string {
  return `The output is incomplete${code === 'EPIPE' ? ', because its reader closed it' : `: ${message}`}`
}

/**
 * Waits while standard output is full (backpressure).
 *
 * @param print returns `false` if the text is buffered, like a stream's `write`
 */
export function createOutputWriter(print: (text: string) => unknown): (text: string) => Promise<void> {
  return async (text) => {
    if (outputError === null && print(text) === false) await once(process.stdout, 'drain').catch(() => {})
    if (outputError !== null) throw new Error(incompleteOutputMessage(outputError))
  }
}
