import type { Change } from './changed-source.ts'

/** Has a failed commit taken for one that was done. */
export const believesCommits: Change = {
  file: 'src/database/sqlite/sqlite-writer.ts',
  from: `      if (!isKnownUncommitted(error)) onFatal(error as Error)
      finishBatch(batch, () => rejectAll(batch, error))
      return
    }`,
  to: '    }',
}

/** Has the log of a short run meet checkpoints, and begin anew, as that of a long one does. */
export const checkpointsOften: Change = {
  file: 'src/database/sqlite/sqlite-connection.ts',
  from: 'wal_autocheckpoint = 4000',
  to: 'wal_autocheckpoint = 40',
}

/** Has webhooks sent as fast as they can be, whatever the machine has to do besides. */
export const unthrottled: Change = {
  file: 'src/app/background-jobs.ts',
  from: '    throttle: createThrottle(),',
  to: '    throttle: { waitMs: () => 0, recordStart: () => {} },',
}
