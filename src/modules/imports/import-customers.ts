import { numberImportedRow } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { insertCustomer } from '../customers/search-keys.ts'
import { recordEvent } from '../outbox/record-event.ts'
import type { ImportOptions, ImportOutcome } from './import-outcome.ts'
import { findIdProblems, futureTimeProblem, importRows } from './import-outcome.ts'
import { customersByIds } from './repository.ts'
import type { SourceCustomer } from './source-object.ts'

/** Imports customers of the source, oldest first, with their ids, times and status. */
export async function importCustomers(
  context: Context,
  rows: readonly SourceCustomer[],
  options: ImportOptions,
): Promise<ImportOutcome[]> {
  const { merchantId } = context
  return importRows(context, rows, options, {
    prepare: async (db, rows) => {
      const ids = rows.map(({ id }) => id)
      const existing = await customersByIds(db, { merchantId, ids })
      return {
        existing: new Map(existing.map((row) => [row.id, row])),
        idProblems: await findIdProblems(db, context, ids),
      }
    },
    existing: ({ existing }, { id }) => {
      const stored = existing.get(id)
      if (stored === undefined) return null
      const { merchantId: _, sequence: __, ...row } = stored
      return row
    },
    findProblem: ({ idProblems }, row) => idProblems.get(row.id) ?? futureTimeProblem(context, row),
    insert: async (tx, row) => {
      const customer = { ...row, ...(await numberImportedRow(tx, merchantId, { row, name: 'customers' })) }
      await insertCustomer(tx, customer)
      await recordEvent(tx, context, {
        type: 'customer.created',
        objectId: row.id,
        at: row.createdAt,
        data: { ...customer, imported: true },
      })
    },
  })
}
