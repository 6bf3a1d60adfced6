import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { invalidInput } from '../../errors.ts'
import { readCamtStatement } from '../../rails/read-camt-statement.ts'
import { readCsvStatement } from '../../rails/read-csv-statement.ts'
import type { Reconciliation } from '../../rails/reconcile.ts'
import { isReconciled, reconcile } from '../../rails/reconcile.ts'
import type { Command } from './command.ts'
import { word } from './command.ts'
import { moment } from './lists.ts'

/** The largest statement that is read: what it says of each payment is held in memory. */
const mostBytes = 256 * 1024 * 1024

/** What compares banks' statements with our books. */
export const reconciliationCommands: Readonly<Record<string, Command>> = {
  reconcile: {
    changes: 'nothing',
    summary:
      "Compares a bank's statement (.csv, or .xml in camt.053) with the payouts of its rail, and fails where they differ; --from and --to say when what must be there was paid.",
    words: ['rail', 'file'],
    options: { from: 'date or time', to: 'date or time' },
    run: async (service, words, { from, to }) => {
      const file = word(words, 1)
      const read = /\.xml$/i.test(file) ? readCamtStatement : readCsvStatement
      const period = { from: moment(from), to: moment(to) }
      return reconcile(service, { rail: word(words, 0), ...period }, read(textsIn(file)))
    },
    hasFailed: (result) => !isReconciled(result as Reconciliation),
  },
}

/** The text of a file in UTF-8, part by part. */
async function* textsIn(file: string): AsyncGenerator<string> {
  const { size } = await stat(file)
  if (size > mostBytes) throw faulty(`must have at most ${mostBytes / 1024 / 1024} MiB`)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const bytes of createReadStream(file)) yield decoder.decode(bytes, { stream: true })
    yield decoder.decode()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error
    throw faulty('must be text in UTF-8')
  }
}

function faulty(message: string) {
  return invalidInput([{ field: 'file', code: 'INVALID_FORMAT', message }])
}
