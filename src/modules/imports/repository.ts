import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { acrossMerchants, listParam, query, queryOne, selectFrom } from '../../database/query.ts'
import { selectWallets } from '../wallets/repository.ts'

/** Searches all merchants, because an id must be unique in the whole database. */
const ownersOfIds = (table: 'customers' | 'payoutMethods' | 'wallets') => {
  // Kysely's types require one table instead of a union of tables.
  const one = table as 'customers'
  return query((p: Params<{ ids: readonly string[] }>) =>
    acrossMerchants(
      selectFrom('merchants')
        .crossJoin(one)
        .whereRef(`${one}.merchantId`, '=', 'merchants.id')
        .where(`${one}.id`, 'in', listParam(p.ids))
        .select([`${one}.id`, `${one}.merchantId`]),
    ),
  )
}

export const idOwnersByKind = {
  customer: ownersOfIds('customers'),
  payoutMethod: ownersOfIds('payoutMethods'),
  wallet: ownersOfIds('wallets'),
}

type RowIds = { merchantId: string; ids: readonly string[] }

export const customersByIds = query((p: Params<RowIds>) =>
  selectFrom('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', 'in', listParam(p.ids)),
)

export const payoutMethodsByIds = query((p: Params<RowIds>) =>
  selectFrom('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', 'in', listParam(p.ids)),
)

export const walletsByIds = query((p: Params<RowIds>) =>
  selectWallets(selectFrom('wallets'))
    .where('wallets.merchantId', '=', p.merchantId)
    .where('wallets.id', 'in', listParam(p.ids)),
)

export const endOfList = queryOne((p: Params<{ merchantId: string; name: string }>) =>
  selectFrom('sequences')
    .select(['latest', 'latestId'])
    .where('merchantId', '=', p.merchantId)
    .where('name', '=', p.name),
)

export const transfersByIds = query((p: Params<RowIds>) =>
  selectFrom('transfers').select('id').where('merchantId', '=', p.merchantId).where('id', 'in', listParam(p.ids)),
)

/** The condition on `version` is always true. Without the condition, SQLite would read all events of the merchant. */
export const deletionOfPayoutMethod = queryOne((p: Params<{ merchantId: string; id: string }>) =>
  selectFrom('events')
    .select('sequence')
    .where('merchantId', '=', p.merchantId)
    .where('objectId', '=', p.id)
    .where('version', '>=', 1)
    .where('data', 'is not', null)
    .where('type', '=', 'payout_method.deleted'),
)

export const merchantsOfAddresses = query((p: Params<{ addresses: readonly string[] }>) =>
  acrossMerchants(
    selectFrom('givenAddresses').select(['address', 'merchantId']).where('address', 'in', listParam(p.addresses)),
  ),
)

export const walletsOfAddresses = query((p: Params<{ merchantId: string; addresses: readonly string[] }>) =>
  selectFrom('walletAddresses')
    .select(['address', 'network', 'walletId'])
    .where('merchantId', '=', p.merchantId)
    .where('address', 'in', listParam(p.addresses)),
)

/** Sums units and remainders separately, because a sum of amounts could overflow 64 bits. */
export const walletTotalsOfMerchant = query((p: Params<{ merchantId: string }>) =>
  selectFrom('accounts')
    .select('assetCode')
    .select([
      sql<bigint>`sum(balance / 100000000)`.as('units'),
      sql<bigint>`sum(balance % 100000000)`.as('rest'),
      sql<bigint>`count(*)`.as('wallets'),
    ])
    .where('merchantId', '=', p.merchantId)
    .groupBy('assetCode')
    .orderBy('assetCode'),
)
