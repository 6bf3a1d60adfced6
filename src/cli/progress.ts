import type { WriteStream } from 'node:tty'
import type { GenericFormatter } from 'cli-progress'
import cliProgress from 'cli-progress'

const { Format, SingleBar } = cliProgress

/** Shows how far a long command is. */
export type Progress = {
  /** @param label what is under way @param done how much of the `total` is done */
  readonly show: (label: string, done: number, total: number) => void
  /** Ends the bar, and shows nothing more. */
  readonly end: () => void
}

export const noProgress: Progress = { show: () => {}, end: () => {} }

/** A bar with rate and remaining time on a terminal; nothing elsewhere, because a log wants no progress. */
export function createProgress(stream: WriteStream | undefined): Progress {
  if (!stream?.isTTY) return noProgress
  let bar: { readonly total: number; done: number; readonly shown: InstanceType<typeof SingleBar> } | null = null
  let isEnded = false
  const stopBar = () => {
    bar?.shown.stop()
    bar = null
  }
  return {
    show: (label, done, total) => {
      if (isEnded) return
      if (bar !== null && (bar.total !== total || done < bar.done)) stopBar()
      if (bar === null) {
        // With line wrapping off, a process that is killed would leave the terminal so.
        bar = {
          total,
          done,
          shown: new SingleBar({ stream, format: formatBar, fps: 25, barsize: 20, linewrap: true, etaBuffer: 50 }),
        }
        bar.shown.start(total, done, { label })
      } else {
        bar.done = done
        bar.shown.update(done, { label })
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
  // The library has a text for an estimate that it can't make.
  const left = typeof eta === 'number' && value < total ? ` ${Format.TimeFormat(eta, options, 1)} left` : ''
  const numbers = `${Math.floor(progress * 100)} % ${formatCount(value)}/${formatCount(total)} ${formatCount(rate)}/s`
  return `[${Format.BarFormat(progress, options)}] ${numbers}${left} ${label}`
}

function formatCount(value: number): string {
  return value.toLocaleString('en')
}
