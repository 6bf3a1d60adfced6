import { enumDescription } from '../../../core/api/enum-descriptions.ts'
import { payoutAssetCodes, recipientCurrencies } from '../../payouts/payout.ts'
import type { FeeSource } from '../../pricing/fees.ts'
import { feeSources, fees, setFee } from '../../pricing/fees.ts'
import { rates, setRate } from '../../pricing/rates.ts'
import type { ActionDeclaration, ActionField } from './action-declaration.ts'

const codeOptions = (codes: readonly string[]) => codes.map((code) => [code, code] as const)
const stablecoinControl = { label: 'From', options: codeOptions(payoutAssetCodes) }
const currencyControl = { label: 'To', options: codeOptions(recipientCurrencies) }
const effectiveAtField: ActionField = {
  name: 'effectiveAt',
  typed: '--effective-at <time>',
  help: 'when it takes effect; default: now',
  label: 'Effective at',
  hint: 'In UTC; default: now.',
  isTime: true,
}
const effectiveAtWord: ActionField = { name: 'effectiveAt', typed: '<effective at>' }

export const setRateAction: ActionDeclaration = {
  name: 'rate set',
  title: 'Set a rate',
  summary:
    'Set the rate of a stablecoin. Shows the scheduled rates that will replace it. A change of more than 20 % requires --force.',
  formText: 'Set the rate of a stablecoin. Payouts use it from the time at which it takes effect.',
  fields: [
    { name: 'fromCode', typed: '<from>', ...stablecoinControl },
    { name: 'toCode', typed: '<to>', ...currencyControl },
    {
      name: 'rate',
      typed: '<rate>',
      label: 'Rate',
      hint: 'A plain decimal of at most nine places, such as 1500.25.',
    },
    effectiveAtField,
    {
      name: 'isForced',
      typed: '--force',
      help: 'set it although it differs by more than 20 %',
      label: 'Set it although it differs by more than 20 %',
    },
  ],
  subject: ['fromCode', 'toCode'],
  run: async (service, { fromCode = '', toCode = '', rate = '', effectiveAt, isForced }) => {
    const input = { fromCode, toCode, rate, effectiveAt, isForced: isForced !== undefined }
    const { later, ...row } = await setRate(service, input)
    return { ...withoutRevision(row), later: later.map(({ effectiveAt, rate }) => ({ effectiveAt, rate })) }
  },
}

export const changeRateAction: ActionDeclaration = {
  ...setRateAction,
  formName: 'rate change',
  title: 'Change',
  fields: setRateAction.fields.filter(({ name }) => !setRateAction.subject.includes(name)),
  rowFields: ['fromCode', 'toCode'],
}

export const cancelRateAction: ActionDeclaration = {
  name: 'rate cancel',
  title: 'Cancel',
  summary: 'Cancel a rate before it takes effect. The history keeps it as cancelled.',
  fields: [{ name: 'fromCode', typed: '<from>' }, { name: 'toCode', typed: '<to>' }, effectiveAtWord],
  rowFields: ['fromCode', 'toCode', 'effectiveAt'],
  subject: ['fromCode', 'toCode'],
  run: async (service, { fromCode = '', toCode = '', effectiveAt = '' }) =>
    withoutRevision(await rates.cancel(service, { fromCode, toCode, effectiveAt })),
}

export const setFeeAction: ActionDeclaration = {
  name: 'fee set',
  title: 'Set a fee',
  summary:
    'Set the fee of payouts of an asset to a currency. Requires --flat, --percent or both. Shows the scheduled fees that will replace it.',
  formText: 'Set the fee of payouts of a stablecoin to a currency: flat, in per cent, or both.',
  fields: [
    { name: 'assetCode', typed: '<asset>', ...stablecoinControl },
    { name: 'recipientCurrency', typed: '<currency>', ...currencyControl },
    { name: 'flat', typed: '--flat <amount>', label: 'Flat', hint: 'In units of the stablecoin, such as 0.50.' },
    {
      name: 'percent',
      typed: '--percent <number>',
      label: 'Per cent of the amount',
      hint: 'Such as 0.5 for half a per cent.',
    },
    {
      name: 'deductedFrom',
      typed: '--deduct-from <source>',
      help: 'amount (the recipient gets less) or balance (the wallet pays more); as in the previous fee, else balance',
      label: 'Deduct from',
      hint: 'Default: as in the previous fee; a first fee is deducted from the balance.',
      options: feeSources.map((source) => [source, enumDescription(feeSources, source)]),
    },
    effectiveAtField,
  ],
  subject: ['assetCode', 'recipientCurrency'],
  run: async (service, { assetCode = '', recipientCurrency = '', flat, percent, deductedFrom, effectiveAt }) => {
    const source = deductedFrom?.toUpperCase() as FeeSource | undefined
    const input = { assetCode, recipientCurrency, flat, percent, deductedFrom: source, effectiveAt }
    const { later, ...row } = await setFee(service, input)
    const laterFees = later.map(({ effectiveAt, flat, percent, deductedFrom }) => ({
      effectiveAt,
      flat,
      percent,
      deductedFrom,
    }))
    return { ...withoutRevision(row), later: laterFees }
  },
}

export const changeFeeAction: ActionDeclaration = {
  ...setFeeAction,
  formName: 'fee change',
  title: 'Change',
  fields: setFeeAction.fields.filter(({ name }) => !setFeeAction.subject.includes(name)),
  rowFields: ['assetCode', 'recipientCurrency'],
}

export const cancelFeeAction: ActionDeclaration = {
  name: 'fee cancel',
  title: 'Cancel',
  summary: 'Cancel a fee before it takes effect. The history keeps it as cancelled.',
  fields: [
    { name: 'assetCode', typed: '<asset>' },
    { name: 'recipientCurrency', typed: '<currency>' },
    effectiveAtWord,
  ],
  rowFields: ['assetCode', 'recipientCurrency', 'effectiveAt'],
  subject: ['assetCode', 'recipientCurrency'],
  run: async (service, { assetCode = '', recipientCurrency = '', effectiveAt = '' }) =>
    withoutRevision(await fees.cancel(service, { assetCode, recipientCurrency, effectiveAt })),
}

/** Operators do not need the revision, which only orders prices with the same start time. */
export function withoutRevision<Row extends { readonly revision: number }>({ revision: _, ...row }: Row) {
  return row
}
