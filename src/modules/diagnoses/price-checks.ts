import { timestamp } from '../../core/ids-and-clock.ts'
import type { Service } from '../../operations/context.ts'
import { payoutAssetCodes, recipientCurrencies } from '../payouts/payout.ts'
import { feeInForce, rateInForce } from '../pricing/repository.ts'
import type { DiagnosisCheck, DiagnosisContext } from './diagnosis.ts'
import { formatNames, reportFault, reportOk, reportWarning } from './diagnosis.ts'
import { merchantUsingCorridor, usedCorridors } from './repository.ts'

const dayMs = 86_400_000

const maxRateAgeDays = 1

type Corridor = { readonly assetCode: string; readonly recipientCurrency: string }

export const checkMissingRates: DiagnosisCheck = async (context) => {
  const missing = (await readCorridorRates(context)).filter(({ rate }) => rate === null)
  if (missing.length === 0) return reportOk('rates', 'Every corridor that payouts used has a rate.')
  const message = `No rate is in force for ${formatNames(missing.map(formatCorridor))}: payouts are rejected.`
  return reportFault('rates', message, 'Set it with `rate set <from> <to> <rate>`.')
}

export const checkStaleRates: DiagnosisCheck = async (context) => {
  const { mode, now } = context
  if (mode === 'sandbox') return reportOk('age of rates', 'Sandbox rates are not real.')
  const stale = (await readCorridorRates(context)).filter(
    ({ rate }) => rate !== null && now - Date.parse(rate.effectiveAt) > maxRateAgeDays * dayMs,
  )
  if (stale.length === 0)
    return reportOk('age of rates', `Every rate that payouts use was set in the last ${maxRateAgeDays * 24} hours.`)
  const names = stale.map((each) => `${formatCorridor(each)} of ${each.rate?.effectiveAt}`)
  const advice = 'The job that sets rates is missing or has stopped: run `rate set <from> <to> <rate>` on a schedule.'
  return reportWarning(
    'age of rates',
    `Payouts use rates that are more than ${maxRateAgeDays * 24} hours old: ${formatNames(names)}.`,
    advice,
  )
}

export const checkMissingFees: DiagnosisCheck = async (context) => {
  const { db, mode, now } = context
  if (mode === 'sandbox') return reportOk('fees', 'The sandbox needs no fees.')
  const corridors = await usedCorridors(db, {})
  const fees = await Promise.all(corridors.map((corridor) => feeInForce(db, { ...corridor, at: timestamp(now) })))
  const missing = corridors.filter((_, i) => fees[i] === null)
  if (missing.length === 0) return reportOk('fees', 'Every corridor that payouts used has a fee.')
  const advice = 'Set it with `fee set <asset> <currency> --flat <amount>`, even if it is 0.'
  return reportWarning(
    'fees',
    `No fee was ever set for ${formatNames(missing.map(formatCorridor))}: payouts are free of charge.`,
    advice,
  )
}

async function readCorridorRates({ db, now }: DiagnosisContext) {
  const corridors = await usedCorridors(db, {})
  return Promise.all(
    corridors.map(async ({ assetCode, recipientCurrency }) => ({
      ...{ assetCode, recipientCurrency },
      rate: await rateInForce(db, { fromCode: assetCode, toCode: recipientCurrency, at: timestamp(now) }),
    })),
  )
}

function formatCorridor({ assetCode, recipientCurrency }: Corridor): string {
  return `${assetCode} ${recipientCurrency}`
}

/**
 * Returns corridors such as `USDC/NGN` that have a payout, a current fee, or a merchant with a wallet and a bank
 * account for the corridor.
 */
export async function findUsedCorridors(
  { db, wallClock }: Service,
  isIncluded: (pair: string) => boolean,
): Promise<readonly string[]> {
  const used: string[] = []
  for (const assetCode of payoutAssetCodes) {
    for (const recipientCurrency of recipientCurrencies) {
      const pair = `${assetCode}/${recipientCurrency}`
      if (!isIncluded(pair)) continue
      const corridor = { assetCode, recipientCurrency }
      const isUsed =
        (await merchantUsingCorridor(db, corridor)) !== null ||
        (await feeInForce(db, { ...corridor, at: timestamp(wallClock()) })) !== null
      if (isUsed) used.push(pair)
    }
  }
  return used
}
