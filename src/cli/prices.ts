import type { PriceState } from '../modules/pricing/effective-dated.ts'
import type { FeeSource } from '../modules/pricing/fees/fee.ts'
import { fees } from '../modules/pricing/fees/fees.ts'
import { setFee } from '../modules/pricing/fees/set-fee.ts'
import { rates } from '../modules/pricing/rates/rates.ts'
import { setRate } from '../modules/pricing/rates/set-rate.ts'
import type { Command } from './command.ts'
import { subjectFromFirstTwoWords, wordAt } from './command.ts'
import { listResult, sliceArgs, sliceFieldNames, sliceOptions } from './list-commands.ts'
import type { TextColumns } from './table.ts'

const ratePair = { fromCode: '<from>', toCode: '<to>' }
const feePair = { assetCode: '<asset>', recipientCurrency: '<currency>' }
const stateOption = ['state', 'in_force, future, past or cancelled'] as const
const effectiveAtOption = ['time', 'when it takes effect; now unless given'] as const

const rateColumns: TextColumns = {
  fromCode: { header: 'from' },
  toCode: { header: 'to' },
  effectiveAt: { header: 'effective' },
  rate: { align: 'right' },
  cancelledAt: { header: 'cancelled' },
}

const feeColumns: TextColumns = {
  assetCode: { header: 'asset', priority: 1 },
  recipientCurrency: { header: 'to', priority: 2 },
  flat: { priority: 3 },
  percent: { align: 'right', priority: 4 },
  deductedFrom: { header: 'deducted from', priority: 7 },
  state: { priority: 5 },
  effectiveAt: { header: 'effective', priority: 6 },
  cancelledAt: { header: 'cancelled', priority: 8 },
}

/** What payouts cost and are converted at. */
export const priceCommands: Readonly<Record<string, Command>> = {
  'rate set': {
    changes: subjectFromFirstTwoWords,
    databaseCreation: 'inSandbox',
    summary:
      'Set the rate of a stablecoin. Shows the rates that replace it later. A change of more than 20 % requires --force.',
    words: ['from', 'to', 'rate'],
    options: { 'effective-at': effectiveAtOption },
    flags: { force: 'set it although it differs by more than 20 %' },
    names: ratePair,
    run: async (service, words, options) => {
      const { later, ...rate } = await setRate(service, {
        fromCode: wordAt(words, 0),
        toCode: wordAt(words, 1),
        rate: wordAt(words, 2),
        effectiveAt: options['effective-at'],
        isForced: options.force !== undefined,
      })
      return { ...withoutRevision(rate), later: later.map(({ effectiveAt, rate }) => ({ effectiveAt, rate })) }
    },
  },
  'rate list': {
    changes: 'nothing',
    summary: 'List the rates by pair, newest first.',
    options: { from: 'code', to: 'code', state: stateOption, ...sliceOptions },
    columns: rateColumns,
    names: { ...sliceFieldNames, fromCode: '--from', toCode: '--to' },
    run: async (service, _, options) => {
      const filter = { fromCode: options.from, toCode: options.to, state: upperCase<PriceState>(options.state) }
      return listResult('rates', await rates.list(service, { ...filter, ...sliceArgs(options) }), withoutRevision)
    },
  },
  'rate cancel': {
    changes: subjectFromFirstTwoWords,
    summary: 'Cancel a rate before it takes effect. It stays recorded.',
    words: ['from', 'to', 'effective at'],
    names: ratePair,
    run: async (service, words) =>
      withoutRevision(
        await rates.cancel(service, {
          fromCode: wordAt(words, 0),
          toCode: wordAt(words, 1),
          effectiveAt: wordAt(words, 2),
        }),
      ),
  },
  'fee set': {
    changes: subjectFromFirstTwoWords,
    databaseCreation: 'inSandbox',
    summary:
      'Set the fee of payouts of an asset to a currency. Requires --flat, --percent or both. Shows the fees that replace it later.',
    words: ['asset', 'currency'],
    options: {
      flat: 'amount',
      percent: 'number',
      'deduct-from': [
        'source',
        'amount (the recipient gets less) or balance (the wallet pays more); as in the previous fee, else balance',
      ],
      'effective-at': effectiveAtOption,
    },
    names: { ...feePair, deductedFrom: '--deduct-from' },
    run: async (service, words, options) => {
      const { later, ...fee } = await setFee(service, {
        assetCode: wordAt(words, 0),
        recipientCurrency: wordAt(words, 1),
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
      return { ...withoutRevision(fee), later: laterFees }
    },
  },
  'fee list': {
    changes: 'nothing',
    summary: 'List the fees by pair, newest first.',
    options: { asset: 'code', currency: 'code', state: stateOption, ...sliceOptions },
    columns: feeColumns,
    names: { ...sliceFieldNames, assetCode: '--asset', recipientCurrency: '--currency' },
    run: async (service, _, options) => {
      const state = upperCase<PriceState>(options.state)
      const filter = { assetCode: options.asset, recipientCurrency: options.currency, state }
      return listResult('fees', await fees.list(service, { ...filter, ...sliceArgs(options) }), withoutRevision)
    },
  },
  'fee cancel': {
    changes: subjectFromFirstTwoWords,
    summary: 'Cancel a fee before it takes effect. It stays recorded.',
    words: ['asset', 'currency', 'effective at'],
    names: feePair,
    run: async (service, words) =>
      withoutRevision(
        await fees.cancel(service, {
          assetCode: wordAt(words, 0),
          recipientCurrency: wordAt(words, 1),
          effectiveAt: wordAt(words, 2),
        }),
      ),
  },
}

/** A value of a closed list as operators type it; the operation rejects any other. */
function upperCase<Value extends string>(text: string | undefined): Value | undefined {
  return text?.toUpperCase().replace(/[ -]/g, '_') as Value | undefined
}

/** Which of several rows for one time it is shows in the times of their cancellation. */
function withoutRevision<Row extends { readonly revision: number }>({ revision: _, ...row }: Row) {
  return row
}
