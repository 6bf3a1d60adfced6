import type { Amount } from '../../core/money/amount.ts'
import type { Params } from '../../database/query.ts'
import { insertInto, pickParams, statement, updateTable } from '../../database/query.ts'
import type { NewRowOf } from '../../database/tables.ts'

export type SeededBalance = { balance: Amount; reachableBalance: Amount; entryCount: number; latestTime: bigint }

export const setAccountBalance = statement((p: Params<{ merchantId: string; id: string } & SeededBalance>) =>
  updateTable('accounts')
    .set(pickParams(p, ['balance', 'reachableBalance', 'entryCount', 'latestTime']))
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id),
)

const latestColumns = ['latest', 'latestTime', 'latestId', 'isSorted'] as const

export const setSequence = statement((p: Params<NewRowOf<'sequences'>>) =>
  insertInto('sequences')
    .values(pickParams(p, ['merchantId', 'name', ...latestColumns]))
    .onConflict((conflict) => conflict.columns(['merchantId', 'name']).doUpdateSet(pickParams(p, latestColumns))),
)
