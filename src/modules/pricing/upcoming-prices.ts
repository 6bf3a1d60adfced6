import { timestamp } from '../../core/ids-and-clock.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { fees } from './fees.ts'
import { rates } from './rates.ts'

/** Lists future prices at startup. If a clock was ahead, an operator may have set a price for a wrong time. */
export async function upcomingPriceLines({ db, wallClock }: Service): Promise<string[]> {
  const at = timestamp(wallClock())
  const assets = await assetCodesWithNetworks(db)
  const codesOf = (type: 'STABLECOIN' | 'FIAT') =>
    assets.filter(({ assetType }) => assetType === type).map(({ code }) => code)
  const pairs = codesOf('STABLECOIN').flatMap((from) => codesOf('FIAT').map((to) => [from, to] as const))
  const lines = pairs.map(async ([from, to]) => {
    const upcomingRates = await rates.upcoming(db, { fromCode: from, toCode: to, at })
    const upcomingFees = await fees.upcoming(db, { assetCode: from, recipientCurrency: to, at })
    return [
      ...upcomingRates.map(({ rate, effectiveAt }) => `rate ${from} ${to} ${rate} from ${effectiveAt}`),
      ...upcomingFees.map(
        ({ flat, percent, deductedFrom, effectiveAt }) =>
          `fee ${from} ${to} ${formatAmount(flat)} and ${percent} % of the amount, deducted from the ${deductedFrom.toLowerCase()}, from ${effectiveAt}`,
      ),
    ]
  })
  return (await Promise.all(lines)).flat()
}
