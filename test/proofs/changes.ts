import type { Change } from './changed-source.ts'

/** Treats a failed commit as a successful one. */
export const believesCommits: Change = {
  file: 'src/database/sqlite/sqlite-writer.ts',
  from: `      if (!isKnownUncommitted(error)) onFatal(error as Error)
      finishBatch(batch, () => rejectAll(batch, error))
      return
    }`,
  to: '    }',
}

/** Makes the WAL of a short run reach checkpoints and restart, as the WAL of a long run does. */
export const checkpointsOften: Change = {
  file: 'src/database/sqlite/sqlite-connection.ts',
  from: 'wal_autocheckpoint = 4000',
  to: 'wal_autocheckpoint = 40',
}

/** Sends webhooks as fast as possible, whatever other load the process has. */
export const unthrottled: Change = {
  file: 'src/app/background-jobs.ts',
  from: '    throttle: createThrottle(),',
  to: '    throttle: { waitMs: () => 0, recordStart: () => {} },',
}
