import type { Context } from '../../../operations/context.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { AttemptRecord, AttemptReport, RecordedAttempts, WaitingEvent } from './record-attempts.ts'
import { recordAttempts } from './record-attempts.ts'

/** Attempts that are not recorded, from which on none is begun. */
const maxUnrecorded = 64

/** The cursor alone is stored this often at most, where nothing of what it passes is for the endpoint. */
const cursorEveryMs = 5_000

/** After how long what could not be recorded is tried again. */
const flushRetryMs = 1_000

/** Has what came of sending to an endpoint recorded, many at once, and its cursor with that. */
export type AttemptRecorder = {
  /** Records an attempt; `isGone` where the endpoint answered that it is. */
  readonly addAttempt: (attempted: AttemptRecord, isGone: boolean) => void
  /** Records that events wait until what came before them of their objects is over. */
  readonly addWaitingEvents: (waiting: readonly WaitingEvent[]) => void
  /** Stores the cursor, where nothing else is to be recorded, now and then; at the end at once. */
  readonly storeCursor: () => void
  /** Whether so much is not recorded that nothing more may begin: all that would be sent again if the process died. */
  readonly isFull: () => boolean
  /** Whether all is recorded; at the end also where it can't be. */
  readonly isDrained: () => boolean
}

type AttemptRecorderOptions = {
  readonly context: Context
  readonly endpoint: StoredWebhookEndpoint
  /** The number up to which all events are over. */
  readonly currentCursor: () => number
  readonly isStopped: () => boolean
  /** Called with what was recorded; `null` where the endpoint is there no more. */
  readonly onRecorded: (report: AttemptReport, recorded: RecordedAttempts | null) => void
  /** Called when nothing is being recorded any more, because all is or because it can't be and the lane has stopped. */
  readonly onIdle: () => void
  readonly onFault: (error: unknown) => void
}

/** Makes what records for one endpoint, and tries that again until the lane has stopped: what was sent must be known, or it is sent again. */
export function createAttemptRecorder(means: AttemptRecorderOptions): AttemptRecorder {
  const { context, endpoint, currentCursor: passedTo, isStopped, onRecorded, onIdle, onFault } = means
  /** As it is stored. */
  let { cursor } = endpoint
  let cursorStoredAt = 0
  let attempted: AttemptRecord[] = []
  let waiting: WaitingEvent[] = []
  let isGone = false
  let isRecording = false
  /** Whether the last report was stored. */
  let isStored = true

  /** Records what has come, together with all that comes while it waits for its turn. */
  function record(): void {
    if (isRecording) return
    isRecording = true
    setImmediate(store)
  }

  async function store(): Promise<void> {
    const to = passedTo()
    const report: AttemptReport = { endpointId: endpoint.id, attempted, waiting, cursor: { from: cursor, to }, isGone }
    attempted = []
    waiting = []
    isGone = false
    isStored = true
    try {
      takeRecorded(report, await context.perform(recordAttempts, context, report))
    } catch (error) {
      attempted = [...report.attempted, ...attempted]
      waiting = [...report.waiting, ...waiting]
      isGone ||= report.isGone
      isStored = false
      onFault(error)
      if (!isStopped()) await pause(flushRetryMs)
    }
    isRecording = false
    if (hasUnrecorded() && (isStored || !isStopped())) record()
    else onIdle()
  }

  function takeRecorded(report: AttemptReport, recorded: RecordedAttempts | null): void {
    cursor = report.cursor.to
    cursorStoredAt = performance.now()
    onRecorded(report, recorded)
  }

  function hasUnrecorded(): boolean {
    return attempted.length > 0 || waiting.length > 0
  }

  return {
    addAttempt: (each, isGoneNow) => {
      attempted.push(each)
      if (isGoneNow) isGone = true
      record()
    },
    addWaitingEvents: (items) => {
      for (const { sequence, objectId } of items) waiting.push({ sequence, objectId })
      record()
    },
    storeCursor: () => {
      if (passedTo() === cursor) return
      if (isStopped() || performance.now() - cursorStoredAt >= cursorEveryMs) record()
    },
    isFull: () => attempted.length >= maxUnrecorded,
    isDrained: () => !isRecording && (!isStored || !hasUnrecorded()),
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
}
