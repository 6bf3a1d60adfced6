import { z } from 'zod'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import { withAddresses } from './list-wallets.ts'
import { walletById } from './repository.ts'
import type { Wallet } from './wallet.ts'

export const GetWalletInput = z.object({ walletId: z.string() })

/**
 * One of the merchant's or its customers' wallets, with all its addresses (contract 4.11).
 *
 * @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none (ruling 5)
 */
export async function getWallet(context: Context, input: z.input<typeof GetWalletInput>): Promise<Wallet> {
  const id = parseUuid(input.walletId)
  const wallet = id && (await walletById(context.db, { merchantId: context.merchantId, id }))
  const [found] = wallet ? await withAddresses(context, [wallet]) : []
  if (!found) throw notFound('Wallet')
  return found
}
