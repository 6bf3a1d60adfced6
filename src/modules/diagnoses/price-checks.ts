import { timestamp } from '../../core/ids.ts'
import { feeInForce } from '../pricing/fees/repository.ts'
import { rateInForce } from '../pricing/rates/repository.ts'
import type { Check, Examined } from './diagnosis.ts'
import { fault, ok, some, warning } from './diagnosis.ts'
import { usedCorridors } from './repository.ts'

const dayMs = 86_400_000

/** A rate of live money that is older was forgotten. */
const oldDays = 1

type Corridor = { readonly assetCode: string; readonly recipientCurrency: string }

export const missingRates: Check = async (examined) => {
  const missing = (await corridorsWithRates(examined)).filter(({ rate }) => rate === null)
  if (missing.length === 0) return ok('rates', 'There is a rate for whatever payouts were made from and to.')
  const message = `There is no rate any more for ${some(missing.map(nameOf))}: payouts are refused.`
  return fault('rates', message, 'Set it: `rate set <from> <to> <rate>`.')
}

export const oldRates: Check = async (examined) => {
  const { mode, now } = examined
  if (mode === 'sandbox') return ok('age of rates', 'The sandbox’s rates are invented.')
  const old = (await corridorsWithRates(examined)).filter(
    ({ rate }) => rate !== null && now - Date.parse(rate.effectiveAt) > oldDays * dayMs,
  )
  if (old.length === 0) return ok('age of rates', `Every rate that payouts use is of the last ${oldDays * 24} hours.`)
  const names = old.map((each) => `${nameOf(each)} of ${each.rate?.effectiveAt}`)
  const advice = 'Whoever sets rates has stopped, or never began: have `rate set <from> <to> <rate>` run on a schedule.'
  return warning(
    'age of rates',
    `Payouts are made at rates of more than ${oldDays * 24} hours ago: ${some(names)}.`,
    advice,
  )
}

export const missingFees: Check = async (examined) => {
  const { db, mode, now } = examined
  if (mode === 'sandbox') return ok('fees', 'The sandbox may pay out for nothing.')
  const corridors = await usedCorridors(db, {})
  const found = await Promise.all(corridors.map((corridor) => feeInForce(db, { ...corridor, at: timestamp(now) })))
  const missing = corridors.filter((_, place) => found[place] === null)
  if (missing.length === 0) return ok('fees', 'There is a fee for whatever payouts were made from and to.')
  const advice = 'Set it: `fee set <asset> <currency> --flat <amount>`, also where it is to be nothing.'
  return warning('fees', `No fee was ever set for ${some(missing.map(nameOf))}: payouts cost nothing.`, advice)
}

async function corridorsWithRates({ db, now }: Examined) {
  const corridors = await usedCorridors(db, {})
  return Promise.all(
    corridors.map(async ({ assetCode, recipientCurrency }) => ({
      ...{ assetCode, recipientCurrency },
      rate: await rateInForce(db, { fromCode: assetCode, toCode: recipientCurrency, at: timestamp(now) }),
    })),
  )
}

function nameOf({ assetCode, recipientCurrency }: Corridor): string {
  return `${assetCode} ${recipientCurrency}`
}
