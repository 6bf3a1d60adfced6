import type { Params } from '../../database/query.ts'
import { query, selectFrom } from '../../database/query.ts'
import type { Network } from '../networks/network.ts'

type Lookup<Value extends object> = Params<{ merchantId: string; limit: number } & Value>

const payoutIds = (p: Lookup<object>) =>
  selectFrom('payouts').select('id').where('merchantId', '=', p.merchantId).orderBy('sequence', 'desc').limit(p.limit)

export const payoutIdsByAccountNumber = query((p: Lookup<{ accountNumber: string }>) =>
  payoutIds(p).where('accountNumber', '=', p.accountNumber),
)

export const payoutIdsByFiatReference = query((p: Lookup<{ fiatReferenceId: string }>) =>
  payoutIds(p).where('fiatReferenceId', '=', p.fiatReferenceId),
)

const payoutMethodIds = (p: Lookup<object>) =>
  selectFrom('payoutMethods')
    .select('id')
    .where('merchantId', '=', p.merchantId)
    .orderBy('sequence', 'desc')
    .limit(p.limit)

export const payoutMethodIdsByAccountNumber = query((p: Lookup<{ accountNumber: string }>) =>
  payoutMethodIds(p).where('accountNumber', '=', p.accountNumber),
)

export const payoutMethodIdsByIban = query((p: Lookup<{ iban: string }>) =>
  payoutMethodIds(p).where('iban', '=', p.iban),
)

export const payoutMethodIdsByAddress = query((p: Lookup<{ walletAddress: string }>) =>
  payoutMethodIds(p).where('walletAddress', '=', p.walletAddress),
)

/** A wallet can have the same address on several networks, so the result can contain a wallet more than once. */
export const walletIdsByAddress = query((p: Lookup<{ address: string }>) =>
  selectFrom('walletAddresses')
    .select('walletId as id')
    .where('merchantId', '=', p.merchantId)
    .where('address', '=', p.address)
    .orderBy('network')
    .limit(p.limit),
)

export const depositsOfTransaction = query((p: Lookup<{ network: Network; txHash: string }>) =>
  selectFrom('chainDeposits')
    .select(['walletId', 'depositReference'])
    .where('merchantId', '=', p.merchantId)
    .where('network', '=', p.network)
    .where('txHash', '=', p.txHash)
    .orderBy('logIndex')
    .limit(p.limit),
)
