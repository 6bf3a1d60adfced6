import { timestamp } from '../../core/ids-and-clock.ts'
import { feeInForce, rateInForce } from '../pricing/repository.ts'
import type { DiagnosisCheck, DiagnosisContext } from './diagnosis.ts'
import { formatNames, reportFault, reportOk, reportWarning } from './diagnosis.ts'
import { usedCorridors } from './repository.ts'

const dayMs = 86_400_000

/** A rate of live money that is older was forgotten. */
const maxRateAgeDays = 1

type Corridor = { readonly assetCode: string; readonly recipientCurrency: string }

export const checkMissingRates: DiagnosisCheck = async (examined) => {
  const missing = (await readCorridorRates(examined)).filter(({ rate }) => rate === null)
  if (missing.length === 0) return reportOk('rates', 'There is a rate for whatever payouts were made from and to.')
  const message = `There is no rate any more for ${formatNames(missing.map(formatCorridor))}: payouts are refused.`
  return reportFault('rates', message, 'Set it: `rate set <from> <to> <rate>`.')
}

export const checkStaleRates: DiagnosisCheck = async (examined) => {
  const { mode, now } = examined
  if (mode === 'sandbox') return reportOk('age of rates', 'The sandbox’s rates are invented.')
  const old = (await readCorridorRates(examined)).filter(
    ({ rate }) => rate !== null && now - Date.parse(rate.effectiveAt) > maxRateAgeDays * dayMs,
  )
  if (old.length === 0)
    return reportOk('age of rates', `Every rate that payouts use is of the last ${maxRateAgeDays * 24} hours.`)
  const names = old.map((each) => `${formatCorridor(each)} of ${each.rate?.effectiveAt}`)
  const advice = 'Whoever sets rates has stopped, or never began: have `rate set <from> <to> <rate>` run on a schedule.'
  return reportWarning(
    'age of rates',
    `Payouts are made at rates of more than ${maxRateAgeDays * 24} hours ago: ${formatNames(names)}.`,
    advice,
  )
}

export const checkMissingFees: DiagnosisCheck = async (examined) => {
  const { db, mode, now } = examined
  if (mode === 'sandbox') return reportOk('fees', 'The sandbox may pay out for nothing.')
  const corridors = await usedCorridors(db, {})
  const found = await Promise.all(corridors.map((corridor) => feeInForce(db, { ...corridor, at: timestamp(now) })))
  const missing = corridors.filter((_, place) => found[place] === null)
  if (missing.length === 0) return reportOk('fees', 'There is a fee for whatever payouts were made from and to.')
  const advice = 'Set it: `fee set <asset> <currency> --flat <amount>`, also where it is to be nothing.'
  return reportWarning(
    'fees',
    `No fee was ever set for ${formatNames(missing.map(formatCorridor))}: payouts cost nothing.`,
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
