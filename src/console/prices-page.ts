import { fees } from '../modules/pricing/fees/fees.ts'
import { rates } from '../modules/pricing/rates/rates.ts'
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
import { cancelFeeAction, cancelRateAction, priceTarget, setFeeAction, setRateAction } from './price-actions.ts'

type RateList = Awaited<ReturnType<typeof rates.list>>
type FeeList = Awaited<ReturnType<typeof fees.list>>

const currentStates = ['IN_FORCE', 'FUTURE'] as const

/** What payouts are converted at and cost, now and later. */
export const pricesPage: ConsolePage = {
  path: '/prices',
  actions: [setRateAction, setFeeAction, cancelRateAction, cancelFeeAction],
  render: async (asked) => {
    const { service, urlFor: to, actionForm: form } = asked
    const rows = async <Row>(list: (state: (typeof currentStates)[number]) => Promise<{ items: readonly Row[] }>) =>
      (await Promise.all(currentStates.map(list))).flatMap(({ items }) => items)
    return {
      title: 'Rates and fees',
      body: html`<h2>Rates</h2>
${ratesTable(asked, await rows((state) => rates.list(service, { state, first: 100 })))}
<p><a href="${to('/prices/rates')}">All rates that were ever set</a></p>
<div class="actions">${form(setRateAction)}</div>
<h2>Fees</h2>
${feesTable(asked, await rows((state) => fees.list(service, { state, first: 100 })))}
<p><a href="${to('/prices/fees')}">All fees that were ever set</a></p>
<div class="actions">${form(setFeeAction)}</div>`,
    }
  },
}

/** Every rate there ever was. */
export const allRatesPage: ConsolePage = {
  path: '/prices/rates',
  actions: [cancelRateAction],
  render: async (asked) => {
    const slice = await rates.list(asked.service, sliceArgs(asked))
    return { title: 'All rates', body: html`${ratesTable(asked, slice.items)}${slicePager(asked, slice)}` }
  },
}

/** Every fee there ever was. */
export const allFeesPage: ConsolePage = {
  path: '/prices/fees',
  actions: [cancelFeeAction],
  render: async (asked) => {
    const slice = await fees.list(asked.service, sliceArgs(asked))
    return { title: 'All fees', body: html`${feesTable(asked, slice.items)}${slicePager(asked, slice)}` }
  },
}

function ratesTable({ actionForm: form }: PageRequest, items: RateList['items']): Html {
  const rows = items.map(({ fromCode, toCode, rate, effectiveAt, state }) => [
    html`${fromCode} → ${toCode}`,
    html`<span class="money">${rate}</span>`,
    statusBadge(state),
    timeElement(effectiveAt),
    state === 'FUTURE' ? form(cancelRateAction, priceTarget(fromCode, toCode, effectiveAt)) : emptyValue,
  ])
  return table(
    'Rates',
    ['Pair', numberColumn('Rate'), 'State', 'From when', 'What can be done'],
    rows,
    'No rate was set.',
  )
}

function feesTable({ actionForm: form }: PageRequest, items: FeeList['items']): Html {
  const rows = items.map(({ assetCode, recipientCurrency, flat, percent, deductedFrom, effectiveAt, state }) => [
    html`${assetCode} → ${recipientCurrency}`,
    assetAmount(flat, assetCode),
    html`<span class="money">${percent} %</span>`,
    html`${deductedFrom.toLowerCase()}`,
    statusBadge(state),
    timeElement(effectiveAt),
    state === 'FUTURE' ? form(cancelFeeAction, priceTarget(assetCode, recipientCurrency, effectiveAt)) : emptyValue,
  ])
  const columns = [
    'Pair',
    numberColumn('Flat'),
    numberColumn('Per cent'),
    'Deducted from',
    'State',
    'From when',
    'What can be done',
  ]
  return table('Fees', columns, rows, 'No fee was set: payouts cost nothing.')
}
