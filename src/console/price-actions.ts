import { enumDescription } from '../core/api/enum-descriptions.ts'
import type { FeeSource } from '../modules/pricing/fees/fee.ts'
import { feeSources } from '../modules/pricing/fees/fee.ts'
import { fees } from '../modules/pricing/fees/fees.ts'
import { setFee } from '../modules/pricing/fees/set-fee.ts'
import { rates } from '../modules/pricing/rates/rates.ts'
import { setRate } from '../modules/pricing/rates/set-rate.ts'
import type { ActionInput, ConsoleAction, FormField } from './console-page.ts'

const effectiveAtField: FormField = {
  name: 'effectiveAt',
  label: 'From when',
  hint: 'In UTC, such as 2026-01-31T08:30:00Z; now where nothing is said.',
  isOptional: true,
}

export const setRateAction: ConsoleAction = {
  name: 'rate set',
  title: 'Set a rate',
  text: 'Says what one unit of a stablecoin is worth. Payouts are made at it from its time on.',
  fields: [
    { name: 'fromCode', label: 'From', hint: 'A stablecoin, such as USDC.' },
    { name: 'toCode', label: 'To', hint: 'A currency, such as NGN.' },
    { name: 'rate', label: 'Rate', hint: 'A plain decimal of at most nine places, such as 1500.25.' },
    effectiveAtField,
    { name: 'isForced', label: 'It differs by more than 20 % on purpose (--force)', kind: 'flag', isOptional: true },
  ],
  subject: ({ values: given }) => `${given.fromCode?.trim()} ${given.toCode?.trim()}`,
  run: async (service, { values: given }) => {
    const { fromCode = '', toCode = '', rate = '', effectiveAt, isForced } = given
    await setRate(service, { fromCode, toCode, rate: rate.trim(), effectiveAt, isForced: isForced === 'yes' })
    return undefined
  },
}

export const setFeeAction: ConsoleAction = {
  name: 'fee set',
  title: 'Set a fee',
  text: 'Sets what payouts of a stablecoin to a currency cost: flat, in per cent, or both.',
  fields: [
    { name: 'assetCode', label: 'From', hint: 'A stablecoin, such as USDC.' },
    { name: 'recipientCurrency', label: 'To', hint: 'A currency, such as NGN.' },
    { name: 'flat', label: 'Flat', hint: 'In units of the stablecoin, such as 0.50.', isOptional: true },
    { name: 'percent', label: 'Per cent of the amount', hint: 'Such as 0.5 for half a per cent.', isOptional: true },
    {
      name: 'deductedFrom',
      label: 'Deduct from',
      hint: 'Left empty, as the fee before it; a first fee is deducted from the balance.',
      options: feeSources.map((source) => [source, enumDescription(feeSources, source)]),
      isOptional: true,
    },
    effectiveAtField,
  ],
  subject: ({ values: given }) => `${given.assetCode?.trim()} ${given.recipientCurrency?.trim()}`,
  run: async (service, { values: given }) => {
    const { assetCode = '', recipientCurrency = '', flat, percent, deductedFrom, effectiveAt } = given
    const price = { flat: flat?.trim() || undefined, percent: percent?.trim() || undefined }
    const source = (deductedFrom || undefined) as FeeSource | undefined
    await setFee(service, { assetCode, recipientCurrency, ...price, deductedFrom: source, effectiveAt })
    return undefined
  },
}

/** What a row of prices is named by where it can be cancelled. */
export function priceTarget(from: string, to: string, effectiveAt: string): string {
  return `${from} ${to} ${effectiveAt}`
}

const cancelActionTexts = { title: 'Cancel', text: 'Takes it back before its time comes; it stays recorded.' }
const priceSubject = ({ target }: ActionInput) => target.split(' ').slice(0, 2).join(' ')

export const cancelRateAction: ConsoleAction = {
  ...cancelActionTexts,
  name: 'rate cancel',
  subject: priceSubject,
  run: async (service, { target }) => {
    const [fromCode = '', toCode = '', effectiveAt = ''] = target.split(' ')
    await rates.cancel(service, { fromCode, toCode, effectiveAt })
    return undefined
  },
}

export const cancelFeeAction: ConsoleAction = {
  ...cancelActionTexts,
  name: 'fee cancel',
  subject: priceSubject,
  run: async (service, { target }) => {
    const [assetCode = '', recipientCurrency = '', effectiveAt = ''] = target.split(' ')
    await fees.cancel(service, { assetCode, recipientCurrency, effectiveAt })
    return undefined
  },
}
