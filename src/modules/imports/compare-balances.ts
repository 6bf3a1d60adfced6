import type { Amount } from '../../core/money/amount.ts'
import { amountFromParts } from '../../core/money/amount.ts'
import type { Context } from '../../operations/context.ts'
import { walletsByIds, walletTotalsOfMerchant } from './repository.ts'
import type { SourceWallet } from './source-object.ts'

export type BalanceDifference = {
  readonly walletId: string
  readonly currency: string
  readonly source: Amount
  /** `here` is `null` if the wallet was not imported. */
  readonly here: Amount | null
}

export async function compareBalances(
  { db, merchantId }: Context,
  rows: readonly Pick<SourceWallet, 'id' | 'currency' | 'balance'>[],
): Promise<BalanceDifference[]> {
  if (rows.length === 0) return []
  const stored = new Map(
    (await walletsByIds(db, { merchantId, ids: rows.map(({ id }) => id) })).map((row) => [row.id, row]),
  )
  return rows.flatMap(({ id, currency, balance }) => {
    const here = stored.get(id)
    if (here?.currency === currency && here.balance === balance) return []
    return [{ walletId: id, currency, source: balance, here: here?.balance ?? null }]
  })
}

export type WalletTotal = { readonly currency: string; readonly wallets: number; readonly total: Amount }

export async function findWalletTotals({ db, merchantId }: Context): Promise<WalletTotal[]> {
  const totals = await walletTotalsOfMerchant(db, { merchantId })
  return totals.map(({ assetCode, units, rest, wallets }) => ({
    currency: assetCode,
    wallets: Number(wallets),
    total: amountFromParts(units, rest),
  }))
}
