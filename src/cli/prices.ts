import {
  cancelFeeAction,
  cancelRateAction,
  setFeeAction,
  setRateAction,
  withoutRevision,
} from '../modules/operators/actions/price-actions.ts'
import type { PriceState } from '../modules/pricing/effective-dated.ts'
import { fees } from '../modules/pricing/fees.ts'
import { rates } from '../modules/pricing/rates.ts'
import type { CommandTable } from './command.ts'
import { actionCommand, actionCommands } from './command.ts'
import type { TextColumns } from './format-text.ts'
import { listResult, sliceArgs, sliceFieldNames, sliceOptions } from './list-commands.ts'

const stateOption = ['state', 'in_force, future, past or cancelled'] as const

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

export const priceCommands: CommandTable = {
  'rate set': { ...actionCommand(setRateAction), databaseCreation: 'inSandbox' },
  'rate list': {
    changes: 'nothing',
    summary: 'List the rates by pair, newest first.',
    options: { from: 'code', to: 'code', state: stateOption, ...sliceOptions },
    columns: rateColumns,
    names: { ...sliceFieldNames, fromCode: '--from', toCode: '--to' },
    run: async (service, _, options) => {
      const filter = { fromCode: options.from, toCode: options.to, state: parseState(options.state) }
      return listResult('rates', await rates.list(service, { ...filter, ...sliceArgs(options) }), withoutRevision)
    },
  },
  ...actionCommands(cancelRateAction),
  'fee set': { ...actionCommand(setFeeAction), databaseCreation: 'inSandbox' },
  'fee list': {
    changes: 'nothing',
    summary: 'List the fees by pair, newest first.',
    options: { asset: 'code', currency: 'code', state: stateOption, ...sliceOptions },
    columns: feeColumns,
    names: { ...sliceFieldNames, assetCode: '--asset', recipientCurrency: '--currency' },
    run: async (service, _, options) => {
      const state = parseState(options.state)
      const filter = { assetCode: options.asset, recipientCurrency: options.currency, state }
      return listResult('fees', await fees.list(service, { ...filter, ...sliceArgs(options) }), withoutRevision)
    },
  },
  ...actionCommands(cancelFeeAction),
}

function parseState(text: string | undefined): PriceState | undefined {
  return text?.toUpperCase().replace(/[ -]/g, '_') as PriceState | undefined
}
