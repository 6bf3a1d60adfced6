import type { FeeSource } from '../../fees/fee.ts'
import { fees } from '../../fees/fees.ts'
import { setFee } from '../../fees/set-fee.ts'
import type { PriceState } from '../../rates/dated-prices.ts'
import { rates } from '../../rates/rates.ts'
import { setRate } from '../../rates/set-rate.ts'
import type { Command } from './command.ts'
import { toFirstTwoWords, word } from './command.ts'
import { listed, sliced, sliceNames, sliceOptions } from './lists.ts'

const ratePair = { fromCode: '<from>', toCode: '<to>' }
const feePair = { assetCode: '<asset>', recipientCurrency: '<currency>' }
const state = 'in_force, future, past or cancelled'

/** What payouts cost and are converted at. */
export const priceCommands: Readonly<Record<string, Command>> = {
  'rate set': {
    changes: toFirstTwoWords,
    mayStart: 'inSandbox',
    summary:
      'Sets what one unit of a stablecoin is worth, from now or from a time on, and names the rates that take over later; more than 20 % from the one before needs --force.',
    words: ['from', 'to', 'rate'],
    options: { 'effective-at': 'time' },
    flags: ['force'],
    names: ratePair,
    run: async (service, words, options) => {
      const { later, ...rate } = await setRate(service, {
        fromCode: word(words, 0),
        toCode: word(words, 1),
        rate: word(words, 2),
        effectiveAt: options['effective-at'],
        isForced: options.force !== undefined,
      })
      return { ...shown(rate), later: later.map(({ effectiveAt, rate }) => ({ effectiveAt, rate })) }
    },
  },
  'rate list': {
    changes: 'nothing',
    summary: 'Lists the rates by pair, newest first: in force, future, past and cancelled.',
    options: { from: 'code', to: 'code', state, ...sliceOptions },
    names: { ...sliceNames, fromCode: '--from', toCode: '--to' },
    run: async (service, _, options) => {
      const filter = { fromCode: options.from, toCode: options.to, state: upperCase<PriceState>(options.state) }
      return listed('rates', await rates.list(service, { ...filter, ...sliced(options) }), shown)
    },
  },
  'rate cancel': {
    changes: toFirstTwoWords,
    summary: 'Cancels a rate before its time comes; it stays recorded.',
    words: ['from', 'to', 'effective at'],
    names: ratePair,
    run: async (service, words) =>
      shown(
        await rates.cancel(service, { fromCode: word(words, 0), toCode: word(words, 1), effectiveAt: word(words, 2) }),
      ),
  },
  'fee set': {
    changes: toFirstTwoWords,
    mayStart: 'inSandbox',
    summary:
      'Sets what payouts of an asset to a currency cost, from now or from a time on, and names the fees that take over later; takes --flat, --percent or both. The fee is deducted from the amount (the recipient gets less) or from the balance (the wallet pays more); without --deduct-from as the fee before it, else from the balance.',
    words: ['asset', 'currency'],
    options: {
      flat: 'amount',
      percent: 'number',
      'deduct-from': 'amount or balance',
      'effective-at': 'time',
    },
    names: { ...feePair, deductedFrom: '--deduct-from' },
    run: async (service, words, options) => {
      const { later, ...fee } = await setFee(service, {
        assetCode: word(words, 0),
        recipientCurrency: word(words, 1),
        flat: options.flat,
        percent: options.percent,
        deductedFrom: upperCase<FeeSource>(options['deduct-from']),
        effectiveAt: options['effective-at'],
      })
      const laterFees = later.map(({ effectiveAt, flat, percent, deductedFrom }) => ({
        effectiveAt,
        flat,
        percent,
        deductedFrom,
      }))
      return { ...shown(fee), later: laterFees }
    },
  },
  'fee list': {
    changes: 'nothing',
    summary: 'Lists the fees by pair, newest first: in force, future, past and cancelled.',
    options: { asset: 'code', currency: 'code', state, ...sliceOptions },
    names: { ...sliceNames, assetCode: '--asset', recipientCurrency: '--currency' },
    run: async (service, _, options) => {
      const state = upperCase<PriceState>(options.state)
      const filter = { assetCode: options.asset, recipientCurrency: options.currency, state }
      return listed('fees', await fees.list(service, { ...filter, ...sliced(options) }), shown)
    },
  },
  'fee cancel': {
    changes: toFirstTwoWords,
    summary: 'Cancels a fee before its time comes; it stays recorded.',
    words: ['asset', 'currency', 'effective at'],
    names: feePair,
    run: async (service, words) =>
      shown(
        await fees.cancel(service, {
          assetCode: word(words, 0),
          recipientCurrency: word(words, 1),
          effectiveAt: word(words, 2),
        }),
      ),
  },
}

/** A value of a closed list as operators type it; the operation rejects any other. */
function upperCase<Value extends string>(text: string | undefined): Value | undefined {
  return text?.toUpperCase().replace(/[ -]/g, '_') as Value | undefined
}

/** Which of several rows for one time it is shows in the times of their cancellation. */
function shown<Row extends { readonly revision: number }>({ revision: _, ...row }: Row) {
  return row
}
