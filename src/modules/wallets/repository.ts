import type { Amount } from '../../core/money/amount.ts'
import type { Params, RowsQuery } from '../../database/query.ts'
import {
  acrossMerchants,
  insertInto,
  insertRow,
  listParam,
  merchantIdQuery,
  pickParams,
  query,
  queryOne,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { WalletStatus } from './wallet.ts'

type WalletKey = { merchantId: string; id: string }

export const selectWallets = (wallets: RowsQuery<'wallets'>) =>
  wallets
    .innerJoin('accounts', (join) =>
      join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('accounts.id', '=', 'wallets.id'),
    )
    .selectAll('wallets')
    // Only clearing accounts have no balance.
    .select((eb) => eb.ref('accounts.balance').$notNull().as('balance'))

const walletsWithBalance = () => selectWallets(selectFrom('wallets'))

export const insertWallet = insertRow('wallets')

export const insertWalletAddress = insertRow('walletAddresses')

/** Returns `null` if any merchant has ever used the address. */
export const claimAddress = statementOne((p: Params<{ address: string; merchantId: string }>) =>
  insertInto('givenAddresses')
    .values(pickParams(p, ['address', 'merchantId']))
    .onConflict((conflict) => conflict.column('address').doNothing())
    .returning('address'),
)

export const insertWatchedAddress = insertRow('watchedAddresses')

export const walletById = queryOne((p: Params<WalletKey>) =>
  walletsWithBalance().where('wallets.merchantId', '=', p.merchantId).where('wallets.id', '=', p.id),
)

export const addressesOfWallet = query((p: Params<{ merchantId: string; walletId: string }>) =>
  selectFrom('walletAddresses')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('walletId', '=', p.walletId)
    .orderBy('id'),
)

export const addressesOfWallets = query((p: Params<{ merchantId: string; walletIds: readonly string[] }>) =>
  selectFrom('walletAddresses')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('walletId', 'in', listParam(p.walletIds))
    .orderBy('walletId')
    .orderBy('id'),
)

export const walletAddressesByIds = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  selectFrom('walletAddresses').selectAll().where('merchantId', '=', p.merchantId).where('id', 'in', listParam(p.ids)),
)

export const walletsOfMerchant = query((p: Params<{ merchantId: string }>) =>
  walletsWithBalance().where('wallets.merchantId', '=', p.merchantId).orderBy('wallets.sequence'),
)

export const oldestWalletWithBalance = queryOne(
  (p: Params<{ merchantId: string; ownerId: string; currency: string; balance: Amount }>) =>
    walletsWithBalance()
      .where('wallets.merchantId', '=', p.merchantId)
      .where('wallets.ownerId', '=', p.ownerId)
      .where('wallets.currency', '=', p.currency)
      .where('wallets.status', '=', 'active')
      .where('accounts.balance', '>=', p.balance)
      .orderBy('wallets.ownerSequence')
      .limit(1),
)

export const setWalletStatus = statement((p: Params<WalletKey & { status: WalletStatus; updatedAt: string }>) =>
  updateTable('wallets')
    .set(pickParams(p, ['status', 'updatedAt']))
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id),
)

export const merchantOfWallet = merchantIdQuery('wallets')

export const insertPooledAddress = insertRow('pooledAddresses')

export const pooledAddress = queryOne((p: Params<{ merchantId: string; family: 'solana'; sequence: number }>) =>
  selectFrom('pooledAddresses')
    .select('address')
    .where('merchantId', '=', p.merchantId)
    .where('family', '=', p.family)
    .where('sequence', '=', p.sequence),
)

export const merchantOfPooledAddress = queryOne((p: Params<{ family: 'solana'; address: string }>) =>
  acrossMerchants(
    selectFrom('merchants')
      .crossJoin('pooledAddresses')
      .whereRef('pooledAddresses.merchantId', '=', 'merchants.id')
      .where('pooledAddresses.family', '=', p.family)
      .where('pooledAddresses.address', '=', p.address)
      .select('merchants.id'),
  ),
)

export const depositByReference = queryOne((p: Params<{ merchantId: string; reference: string }>) =>
  selectFrom('deposits').selectAll().where('merchantId', '=', p.merchantId).where('reference', '=', p.reference),
)

export const insertDeposit = insertRow('deposits')

export const reversalByReference = queryOne((p: Params<{ merchantId: string; reference: string }>) =>
  selectFrom('depositReversals')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('reference', '=', p.reference),
)

export const reversedDepositReferences = query((p: Params<{ merchantId: string; references: readonly string[] }>) =>
  selectFrom('depositReversals')
    .select('reference')
    .where('merchantId', '=', p.merchantId)
    .where('reference', 'in', listParam(p.references)),
)

export const insertDepositReversal = insertRow('depositReversals')
