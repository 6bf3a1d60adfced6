import { z } from 'zod'
import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Context } from '../../operations/context.ts'
import { wallets } from './list.ts'
import { addressesOfWallet } from './repository.ts'
import type { Wallet } from './wallet.ts'

export const GetWalletInput = z.object({ walletId: z.string() })

/**
 * One of the merchant's or its customers' wallets, with all its addresses (contract 4.11).
 *
 * @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none (ruling 5)
 */
export async function getWallet({ db, merchantId }: Context, input: z.input<typeof GetWalletInput>): Promise<Wallet> {
  const id = parseUuid(input.walletId)
  if (id === null) throw notFound('Wallet')
  const [wallet, addresses] = await db.snapshot((read) =>
    allOrFirstError([wallets.byId(read, { merchantId, id }), addressesOfWallet(read, { merchantId, walletId: id })]),
  )
  if (wallet === null) throw notFound('Wallet')
  return { ...wallet, addresses }
}
