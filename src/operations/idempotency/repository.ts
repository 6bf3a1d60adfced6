import type { Params } from '../../database/query.ts'
import { deleteFrom, insertInto, queryOne, selectFrom, statement, statementOne } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'

export const findKey = queryOne((p: Params<{ merchantId: string; operation: string; key: string; oldest: string }>) =>
  selectFrom('idempotencyKeys')
    .select(['fingerprint', 'result'])
    .where('merchantId', '=', p.merchantId)
    .where('operation', '=', p.operation)
    .where('key', '=', p.key)
    .where('createdAt', '>=', p.oldest),
)

/** Overwrites a result that was stored before `oldest`. Returns `null` if the key has a newer result. */
export const insertKey = statementOne((p: Params<RowOf<'idempotencyKeys'> & { oldest: string }>) =>
  insertInto('idempotencyKeys')
    .values({
      merchantId: p.merchantId,
      operation: p.operation,
      key: p.key,
      fingerprint: p.fingerprint,
      result: p.result,
      createdAt: p.createdAt,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['merchantId', 'operation', 'key'])
        .doUpdateSet({ fingerprint: p.fingerprint, result: p.result, createdAt: p.createdAt })
        .where('idempotencyKeys.createdAt', '<', p.oldest),
    )
    .returning('key'),
)

export const deleteExpiredKeys = statement((p: Params<{ merchantId: string; oldest: string; limit: number }>) =>
  deleteFrom('idempotencyKeys')
    .where('merchantId', '=', p.merchantId)
    .where(({ eb, refTuple }) =>
      eb(
        refTuple('operation', 'key'),
        'in',
        selectFrom('idempotencyKeys')
          .select(['operation', 'key'])
          .where('merchantId', '=', p.merchantId)
          .where('createdAt', '<', p.oldest)
          .orderBy('createdAt')
          .limit(p.limit)
          .$asTuple('operation', 'key'),
      ),
    ),
)
