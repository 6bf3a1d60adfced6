// Runs in a copy of the project that has a table `memos` (checkout.ts): tries everything on the rows of others with the
// database of a customer's token, and prints the outcome of each trial as JSON.

import { openDatabase } from '../../../src/app/open-database.ts'
import type { Database } from '../../../src/database/database.ts'
import type { Params, Reader, Tx } from '../../../src/database/query.ts'
import { deleteFrom, insertRow, query, selectFrom, statement, updateTable } from '../../../src/database/query.ts'
import type { TableName } from '../../../src/database/tables.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { systemCaller } from '../../../src/operations/access/api-caller.ts'
import { createContext, createService } from '../../../src/operations/context.ts'

type Memo = { merchantId: string; id: string; customerId: string | null; text: string }

// Types know no table but those of the project itself; this has the same column names.
const memos = 'memos' as 'wallets'

const insertMemo = insertRow(memos as TableName) as unknown as (tx: Tx, memo: Memo) => unknown
const selectMemos = query((p: Params<{ merchantId: string }>) =>
  selectFrom(memos).select(['id', 'customerId']).where('merchantId', '=', p.merchantId).orderBy('id'),
)
const selectJoined = query((p: Params<{ merchantId: string }>) =>
  selectFrom('customers')
    .innerJoin(memos, (join) => join.onRef(`${memos}.merchantId`, '=', 'customers.merchantId'))
    .select(`${memos}.id`)
    .where('customers.merchantId', '=', p.merchantId),
)
const lockMemos = statement((p: Params<{ merchantId: string }>) =>
  selectFrom(memos).select('id').where('merchantId', '=', p.merchantId).forUpdate(),
)
const updateMemos = statement((p: Params<{ merchantId: string }>) =>
  updateTable(memos)
    .set({ text: 'changed' } as never)
    .where('merchantId', '=', p.merchantId)
    .returning('id'),
)
const deleteMemos = statement((p: Params<{ merchantId: string }>) =>
  deleteFrom(memos).where('merchantId', '=', p.merchantId).returning('id'),
)

async function outcomeOf(run: () => unknown): Promise<string> {
  try {
    const rows = await run()
    return Array.isArray(rows) ? `${rows.length} rows` : 'done'
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error)
  }
}

const [url = ''] = process.argv.slice(2)
const onFatal = (error: Error) => {
  throw error
}
const whole = await openDatabase({ url, onFatal })
const service = createService({ db: whole, mode: 'sandbox' })
const { id: merchantId } = await createMerchant(service, { name: 'Merchant' })
const [own, other] = [service.newId(), service.newId()]
const memoOf = (customerId: string | null): Memo => ({ merchantId, id: service.newId(), customerId, text: 'private' })
await whole.write(async (tx) => {
  for (const owner of [own, other, null]) await insertMemo(tx, memoOf(owner))
})

async function trialsOn(db: Database): Promise<Record<string, string>> {
  const reads: Record<string, (reader: Reader) => unknown> = {
    selects: (reader) => selectMemos(reader, { merchantId }),
    joins: (reader) => selectJoined(reader, { merchantId }),
  }
  const writes: Record<string, (tx: Tx) => unknown> = {
    locks: (tx) => lockMemos(tx, { merchantId }),
    updates: (tx) => updateMemos(tx, { merchantId }),
    inserts: (tx) => insertMemo(tx, memoOf(own)),
    'inserts for another': (tx) => insertMemo(tx, memoOf(other)),
    deletes: (tx) => deleteMemos(tx, { merchantId }),
  }
  const outcomes: Record<string, string> = {}
  for (const [name, run] of Object.entries(reads)) {
    outcomes[name] = await outcomeOf(() => run(db))
    outcomes[`${name} in a snapshot`] = await outcomeOf(() => db.snapshot(run as never))
  }
  for (const [name, run] of Object.entries({ ...reads, ...writes })) {
    outcomes[`${name} in a transaction`] = await outcomeOf(() => db.write(run as never))
  }
  return outcomes
}

const context = createContext(service, merchantId, null, 0, { ...systemCaller, customerId: own })
const asCustomer = await trialsOn(context.db)
const left = (await selectMemos(whole, { merchantId })).length
const asMerchant = await trialsOn(whole)
await whole.close()
process.stdout.write(JSON.stringify({ merchantId, own, asCustomer, left, asMerchant }))
