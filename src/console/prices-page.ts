import { formatAmount } from '../core/money/amount.ts'
import {
  cancelFeeAction,
  cancelRateAction,
  changeFeeAction,
  changeRateAction,
  setFeeAction,
  setRateAction,
} from '../modules/operators/actions/price-actions.ts'
import type { PriceState } from '../modules/pricing/effective-dated.ts'
import { fees } from '../modules/pricing/fees.ts'
import { rates } from '../modules/pricing/rates.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  assetAmount,
  emptyValue,
  numberColumn,
  sliceArgs,
  slicePager,
  statusBadge,
  table,
  timeElement,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'

type RateList = Awaited<ReturnType<typeof rates.list>>
type FeeList = Awaited<ReturnType<typeof fees.list>>

const currentStates = ['IN_FORCE', 'FUTURE'] as const

export const pricesPage: ConsolePage = {
  path: '/prices',
  actions: [setRateAction, setFeeAction, changeRateAction, changeFeeAction, cancelRateAction, cancelFeeAction],
  render: async (request) => {
    const { service, urlFor, actionForm } = request
    const rows = async <Row>(list: (state: (typeof currentStates)[number]) => Promise<{ items: readonly Row[] }>) =>
      (await Promise.all(currentStates.map(list))).flatMap(({ items }) => items)
    return {
      title: 'Rates and fees',
      body: html`<h2>Rates</h2>
${ratesTable(request, await rows((state) => rates.list(service, { state, first: 100 })))}
<p><a href="${urlFor('/prices/rates')}">All rates, with past and cancelled ones</a></p>
<div class="actions">${actionForm(setRateAction)}</div>
<h2>Fees</h2>
${feesTable(request, await rows((state) => fees.list(service, { state, first: 100 })))}
<p><a href="${urlFor('/prices/fees')}">All fees, with past and cancelled ones</a></p>
<div class="actions">${actionForm(setFeeAction)}</div>`,
    }
  },
}

export const allRatesPage: ConsolePage = {
  path: '/prices/rates',
  actions: [changeRateAction, cancelRateAction],
  render: async (request) => {
    const slice = await rates.list(request.service, sliceArgs(request))
    return { title: 'All rates', body: html`${ratesTable(request, slice.items)}${slicePager(request, slice)}` }
  },
}

export const allFeesPage: ConsolePage = {
  path: '/prices/fees',
  actions: [changeFeeAction, cancelFeeAction],
  render: async (request) => {
    const slice = await fees.list(request.service, sliceArgs(request))
    return { title: 'All fees', body: html`${feesTable(request, slice.items)}${slicePager(request, slice)}` }
  },
}

type PriceForms = { readonly change: () => Html; readonly cancel: () => Html }

const priceForms: Readonly<Record<PriceState, (forms: PriceForms) => Html>> = {
  IN_FORCE: ({ change }) => change(),
  FUTURE: ({ cancel }) => cancel(),
  PAST: () => emptyValue,
  CANCELLED: () => emptyValue,
}

function ratesTable({ session, actionForm }: PageRequest, items: RateList['items']): Html {
  const rows = items.map(({ fromCode, toCode, rate, effectiveAt, state }) => [
    html`${fromCode} → ${toCode}`,
    html`<span class="money">${rate}</span>`,
    statusBadge(state),
    timeElement(effectiveAt),
    priceForms[state]({
      change: () => actionForm(changeRateAction, `${fromCode} ${toCode}`, { rate }),
      cancel: () => actionForm(cancelRateAction, `${fromCode} ${toCode} ${effectiveAt}`),
    }),
  ])
  return table(
    'Rates',
    ['Pair', numberColumn('Rate'), 'State', 'Effective at', session.can('act') && 'Actions'],
    rows,
    'No rate is set.',
  )
}

function feesTable({ session, actionForm }: PageRequest, items: FeeList['items']): Html {
  const rows = items.map(({ assetCode, recipientCurrency, flat, percent, deductedFrom, effectiveAt, state }) => [
    html`${assetCode} → ${recipientCurrency}`,
    assetAmount(flat, assetCode),
    html`<span class="money">${percent} %</span>`,
    html`${deductedFrom.toLowerCase()}`,
    statusBadge(state),
    timeElement(effectiveAt),
    priceForms[state]({
      change: () =>
        actionForm(changeFeeAction, `${assetCode} ${recipientCurrency}`, {
          flat: `${formatAmount(flat)} ${assetCode}`,
          percent: `${percent} %`,
          deductedFrom: deductedFrom.toLowerCase(),
        }),
      cancel: () => actionForm(cancelFeeAction, `${assetCode} ${recipientCurrency} ${effectiveAt}`),
    }),
  ])
  const columns = [
    'Pair',
    numberColumn('Flat'),
    numberColumn('Per cent'),
    'Deducted from',
    'State',
    'Effective at',
    session.can('act') && 'Actions',
  ]
  return table('Fees', columns, rows, 'No fee is set: payouts are free.')
}
