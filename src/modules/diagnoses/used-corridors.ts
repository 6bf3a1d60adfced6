import { timestamp } from '../../core/ids-and-clock.ts'
import type { Service } from '../../operations/context.ts'
import { payoutAssetCodes, recipientCurrencies } from '../payouts/payout.ts'
import { feeInForce } from '../pricing/repository.ts'
import { merchantUsingCorridor } from './repository.ts'

/**
 * The pairs, such as `USDC/NGN`, among some that somebody uses: a payout was made in it, a merchant has a wallet of the one and
 * a bank account of the other, or a fee is in force for it.
 */
export async function findUsedCorridors(
  { db, wallClock }: Service,
  isAsked: (pair: string) => boolean,
): Promise<readonly string[]> {
  const used: string[] = []
  for (const assetCode of payoutAssetCodes) {
    for (const recipientCurrency of recipientCurrencies) {
      const pair = `${assetCode}/${recipientCurrency}`
      if (!isAsked(pair)) continue
      const corridor = { assetCode, recipientCurrency }
      const isUsed =
        (await merchantUsingCorridor(db, corridor)) !== null ||
        (await feeInForce(db, { ...corridor, at: timestamp(wallClock()) })) !== null
      if (isUsed) used.push(pair)
    }
  }
  return used
}
