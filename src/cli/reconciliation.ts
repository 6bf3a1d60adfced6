import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { invalidInput } from '../core/errors.ts'
import { readCamtStatement } from '../modules/rails/reconciliation/read-camt-statement.ts'
import { readCsvStatement } from '../modules/rails/reconciliation/read-csv-statement.ts'
import type { Reconciliation } from '../modules/rails/reconciliation/reconcile.ts'
import { isReconciled, reconcile } from '../modules/rails/reconciliation/reconcile.ts'
import type { Command } from './command.ts'
import { wordAt } from './command.ts'
import { parseTime } from './list-commands.ts'
import type { Progress } from './progress.ts'

/** The largest statement that is read: what it says of each payment is held in memory. */
const maxFileBytes = 256 * 1024 * 1024

/** What compares banks' statements with our books. */
export const reconciliationCommands: Readonly<Record<string, Command>> = {
  reconcile: {
    changes: 'nothing',
    summary:
      "Compare a bank's statement with the payouts of a rail. Reads .csv, or .xml in camt.053. Fails where they differ.",
    words: ['rail', 'file'],
    columns: {
      finding: { priority: 1 },
      what: { priority: 2 },
      ours: { priority: 3 },
      theirs: { priority: 4 },
      payoutId: { header: 'payout', priority: 5 },
      place: { priority: 6 },
    },
    options: {
      from: ['date or time', 'payouts settled earlier need not be in the statement'],
      to: ['date or time', 'payouts settled later need not be in the statement'],
    },
    run: async (service, words, { from, to }, { progress }) => {
      const file = wordAt(words, 1)
      const read = /\.xml$/i.test(file) ? readCamtStatement : readCsvStatement
      const period = { from: parseTime(from), to: parseTime(to) }
      return reconcile(service, { rail: wordAt(words, 0), ...period }, read(readFileInChunks(file, progress)))
    },
    hasFailed: (result) => !isReconciled(result as Reconciliation),
  },
}

/** The text of a file in UTF-8, part by part. */
async function* readFileInChunks(file: string, progress: Progress): AsyncGenerator<string> {
  const { size } = await stat(file)
  if (size > maxFileBytes) throw invalidFile(`must have at most ${maxFileBytes / 1024 / 1024} MiB`)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    const reading = createReadStream(file)
    for await (const bytes of reading) {
      progress.show('KiB of the statement', Math.floor(reading.bytesRead / 1024), Math.ceil(size / 1024))
      yield decoder.decode(bytes, { stream: true })
    }
    yield decoder.decode()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error
    throw invalidFile('must be text in UTF-8')
  }
}

function invalidFile(message: string) {
  return invalidInput([{ field: 'file', code: 'INVALID_FORMAT', message }])
}
