import { sql } from 'kysely'
import type { Params, RowsQuery } from '../../database/query.ts'
import {
  acrossMerchants,
  insertInto,
  insertRow,
  listParam,
  pickParams,
  query,
  queryOne,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { NewChainDeposit } from './chain-deposit.ts'

export const merchantOfWatchedAddress = queryOne((p: Params<{ addressId: string }>) =>
  acrossMerchants(selectFrom('watchedAddresses').select('merchantId').where('addressId', '=', p.addressId)),
)

const watchedAddresses = () =>
  selectFrom('watchedAddresses')
    .innerJoin('walletAddresses', (join) =>
      join
        .onRef('walletAddresses.merchantId', '=', 'watchedAddresses.merchantId')
        .onRef('walletAddresses.walletId', '=', 'watchedAddresses.walletId')
        .onRef('walletAddresses.id', '=', 'watchedAddresses.addressId'),
    )
    .innerJoin('wallets', (join) =>
      join
        .onRef('wallets.merchantId', '=', 'watchedAddresses.merchantId')
        .onRef('wallets.id', '=', 'watchedAddresses.walletId'),
    )

export const watchedAddressById = queryOne((p: Params<{ merchantId: string; addressId: string }>) =>
  watchedAddresses()
    .select(['walletAddresses.walletId', 'walletAddresses.network', 'wallets.currency'])
    .where('watchedAddresses.addressId', '=', p.addressId)
    .where('watchedAddresses.merchantId', '=', p.merchantId),
)

export const watchedAddressesAfter = query((p: Params<{ after: number; limit: number }>) =>
  acrossMerchants(
    watchedAddresses()
      .select([
        'watchedAddresses.addressId',
        'watchedAddresses.number',
        'walletAddresses.network',
        'walletAddresses.address',
        'wallets.currency',
      ])
      .where('watchedAddresses.number', '>', p.after)
      .orderBy('watchedAddresses.number')
      .limit(p.limit),
  ),
)

export const unnumberedAddress = queryOne(() =>
  acrossMerchants(selectFrom('watchedAddresses').select('addressId').where('number', 'is', null).limit(1)),
)

export const latestAddressNumber = queryOne(() =>
  acrossMerchants(selectFrom('watchedAddresses').select((eb) => eb.fn.max('number').as('number'))),
)

export const numberAddressRows = statement((p: Params<{ limit: number }>) =>
  acrossMerchants(
    updateTable('watchedAddresses')
      .from(
        selectFrom('watchedAddresses')
          .select([
            'addressId',
            sql<number>`row_number() over (order by address_id)
              + (select coalesce(max(number), 0) from watched_addresses)`.as('next'),
          ])
          .where('number', 'is', null)
          .orderBy('addressId')
          .limit(p.limit)
          .as('fresh'),
      )
      .set((eb) => ({ number: eb.ref('fresh.next') }))
      .whereRef('watchedAddresses.addressId', '=', 'fresh.addressId')
      .returning('watchedAddresses.addressId'),
  ),
)

/** Returns `null` if a merchant has already claimed the chain event. */
export const claimChainEvent = statementOne((p: Params<{ reference: string; merchantId: string }>) =>
  insertInto('chainEvents')
    .values(pickParams(p, ['reference', 'merchantId']))
    .onConflict((conflict) => conflict.column('reference').doNothing())
    .returning('merchantId'),
)

export const merchantOfChainEvent = queryOne((p: Params<{ reference: string }>) =>
  acrossMerchants(selectFrom('chainEvents').select('merchantId').where('reference', '=', p.reference)),
)

type ChainDepositKey = { merchantId: string; reference: string }

export const lockChainDeposit = statementOne((p: Params<ChainDepositKey>) =>
  selectFrom('chainDeposits')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('reference', '=', p.reference)
    .forUpdate(),
)

export const insertChainDeposit = insertRow('chainDeposits')

const updatableColumns = ['confirmations', 'state', 'cause', 'depositReference', 'creditedAt', 'updatedAt'] as const

export const updateChainDeposit = statement((p: Params<NewChainDeposit>) =>
  updateTable('chainDeposits')
    .set(pickParams(p, updatableColumns))
    .where('merchantId', '=', p.merchantId)
    .where('reference', '=', p.reference),
)

/**
 * Finds credited deposits that a chain reorganization removed, and that have the given blockchain transaction, address
 * and amount.
 */
export const similarDepositsInAttention = query(
  (p: Params<Pick<NewChainDeposit, 'merchantId' | 'network' | 'txHash' | 'addressId' | 'amount' | 'cause'>>) =>
    selectFrom('chainDeposits')
      .select('reference')
      .where('merchantId', '=', p.merchantId)
      .where('network', '=', p.network)
      .where('txHash', '=', p.txHash)
      .where('addressId', '=', p.addressId)
      .where('amount', '=', p.amount)
      .where('state', '=', sql.lit('ATTENTION'))
      .where('cause', '=', p.cause)
      .orderBy('logIndex'),
)

export const pendingDepositsOfWallets = query(
  (p: Params<{ merchantId: string; walletIds: readonly string[]; maxPerWallet: bigint }>) =>
    selectFrom(
      selectFrom('chainDeposits')
        .selectAll()
        .select(sql<bigint>`row_number() over (partition by wallet_id order by detected_at desc, reference)`.as('rank'))
        .where('merchantId', '=', p.merchantId)
        .where('walletId', 'in', listParam(p.walletIds))
        .where('state', '=', sql.lit('DETECTED'))
        .as('pending'),
    )
      .select(['walletId', 'network', 'txHash', 'logIndex', 'amount', 'confirmations', 'detectedAt', 'rank'])
      .where('rank', '<=', p.maxPerWallet),
)

export const depositsInAttention = query((p: Params<{ limit: number }>) =>
  acrossMerchants(
    selectFrom('chainDeposits')
      .selectAll()
      .where('state', '=', sql.lit('ATTENTION'))
      .orderBy('updatedAt')
      .orderBy('reference')
      .limit(p.limit),
  ),
)

export function joinReversalAndChain(rows: RowsQuery<'deposits'>) {
  return rows
    .leftJoin('depositReversals', (join) =>
      join
        .onRef('depositReversals.merchantId', '=', 'deposits.merchantId')
        .onRef('depositReversals.reference', '=', 'deposits.reference'),
    )
    .leftJoin('chainDeposits', (join) =>
      join
        .onRef('chainDeposits.merchantId', '=', 'deposits.merchantId')
        .onRef('chainDeposits.reference', '=', 'deposits.reference')
        .onRef('chainDeposits.depositReference', '=', 'deposits.reference'),
    )
}
