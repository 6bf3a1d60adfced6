import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
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

/** Whose a watched address is; an operator's view. */
export const merchantOfWatchedAddress = queryOne((p: Params<{ addressId: string }>) =>
  acrossMerchants(selectFrom('watchedAddresses').select('merchantId').where('addressId', '=', p.addressId)),
)

/** The wallet behind a watched address, with what tells whether a report can be about it. */
export const watchedAddressById = queryOne((p: Params<{ merchantId: string; addressId: string }>) =>
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
    .select(['walletAddresses.walletId', 'walletAddresses.network', 'wallets.currency'])
    .where('watchedAddresses.addressId', '=', p.addressId)
    .where('watchedAddresses.merchantId', '=', p.merchantId),
)

/** What is to be watched after a number, of all merchants, in the order of the numbers; an operator's view. */
export const watchedAddressesAfter = query((p: Params<{ after: number; limit: number }>) =>
  acrossMerchants(
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

/** An address that has no number yet, of whichever merchant; an operator's view. */
export const unnumberedAddress = queryOne(() =>
  acrossMerchants(selectFrom('watchedAddresses').select('addressId').where('number', 'is', null).limit(1)),
)

/** The latest number that was given; `null` before the first. An operator's view. */
export const latestAddressNumber = queryOne(() =>
  acrossMerchants(selectFrom('watchedAddresses').select((eb) => eb.fn.max('number').as('number'))),
)

/** Numbers some addresses that have no number, after all that have one; an operator's view. */
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

/** Has an event be a merchant's, unless it is one's already: then `null`. */
export const claimChainEvent = statementOne((p: Params<{ reference: string; merchantId: string }>) =>
  insertInto('chainEvents')
    .values(pickParams(p, ['reference', 'merchantId']))
    .onConflict((conflict) => conflict.column('reference').doNothing())
    .returning('merchantId'),
)

/** Whose an event is; an operator's view. */
export const merchantOfChainEvent = queryOne((p: Params<{ reference: string }>) =>
  acrossMerchants(selectFrom('chainEvents').select('merchantId').where('reference', '=', p.reference)),
)

type ChainDepositKey = { merchantId: string; reference: string }

/** What is known of an event, which nobody else changes until the transaction ends. */
export const lockChainDeposit = statementOne((p: Params<ChainDepositKey>) =>
  selectFrom('chainDeposits')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('reference', '=', p.reference)
    .forUpdate(),
)

export const insertChainDeposit = insertRow('chainDeposits')

const updatableColumns = ['confirmations', 'state', 'cause', 'depositReference', 'creditedAt', 'updatedAt'] as const

/** Writes what has become of an event. */
export const updateChainDeposit = statement((p: Params<NewChainDeposit>) =>
  updateTable('chainDeposits')
    .set(pickParams(p, updatableColumns))
    .where('merchantId', '=', p.merchantId)
    .where('reference', '=', p.reference),
)

/** Other events of the transaction that are alike, and are credited though a person must look at them. */
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

/** What each of some wallets waits for, with its place among the latest of them, in any order and so many for each at most. */
export const pendingDepositsOfWallets = query(
  (p: Params<{ merchantId: string; walletIds: readonly string[]; most: bigint }>) =>
    selectFrom(
      selectFrom('chainDeposits')
        .selectAll()
        .select(
          sql<bigint>`row_number() over (partition by wallet_id order by detected_at desc, reference)`.as('place'),
        )
        .where('merchantId', '=', p.merchantId)
        .where('walletId', 'in', listParam(p.walletIds))
        .where('state', '=', sql.lit('DETECTED'))
        .as('pending'),
    )
      .select(['walletId', 'network', 'txHash', 'logIndex', 'amount', 'confirmations', 'detectedAt', 'place'])
      .where('place', '<=', p.most),
)

/** Deposits that a person must look at, of all merchants, the oldest first; an operator's view. */
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
