import { numberImportedRow } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { insertCustomer } from '../customers/search-keys.ts'
import { recordEvent } from '../outbox/record-event.ts'
import type { ImportOptions, ImportOutcome } from './import-outcome.ts'
import { importRows } from './import-outcome.ts'
import { customersByIds } from './repository.ts'
import type { SourceCustomer } from './source-object.ts'

export async function importCustomers(
  context: Context,
  rows: readonly SourceCustomer[],
  options: ImportOptions,
): Promise<ImportOutcome[]> {
  const { merchantId } = context
  return importRows(context, rows, options, {
    findStored: async (db, ids) => customersByIds(db, { merchantId, ids }),
    prepare: async () => null,
    findProblem: () => null,
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
