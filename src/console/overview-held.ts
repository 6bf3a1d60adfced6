import type { HeldBalances } from '../modules/payout-statistics/read-held-balances.ts'
import { readHeldBalances } from '../modules/payout-statistics/read-held-balances.ts'
import { payoutAssetCodes } from '../modules/payouts/payout.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { chartValue, compactNumber, lineChart } from './charts.ts'
import type { PageRequest } from './console-page.ts'
import type { CountedPeriod } from './overview-figures.ts'
import { uncountedNotice } from './overview-figures.ts'
import { moneyText } from './payout-figures.ts'
import { pluralize } from './phrases.ts'

const maxCharts = 4

export async function heldSection(request: PageRequest, { days, coverage }: CountedPeriod): Promise<Html> {
  const { service, urlFor } = request
  const { uncountedEvents, isCaughtUp } = coverage
  const uncounted = uncountedEvents === 0 ? '' : `, without ${pluralize(uncountedEvents, 'event')} not counted yet`
  const heading = html`<h2>Held in wallets <small class="faint">now, of all merchants${uncounted}</small></h2>\n`
  const all = isCaughtUp ? await readHeldBalances(service, days) : []
  const held = sortByAsset(all.filter(({ balances }) => balances.some((balance) => balance !== 0n)))
  if (held.length === 0) {
    const wallets = html`<a href="${urlFor('/wallets')}">wallet</a>`
    const isEmpty = uncountedEvents === 0
    return html`${heading}${isEmpty ? html`<p class="empty">No ${wallets} held money in the last ${days.length} days.</p>\n` : uncountedNotice(coverage)}`
  }
  return html`${heading}<ul class="cards">
${held.map(({ assetCode, balances }) => html`<li><a href="${urlFor('/wallets', { currency: assetCode })}">${assetCode}</a><strong>${moneyText(balances.at(-1) ?? 0n)}</strong></li>\n`)}</ul>
<div class="charts">
${held.slice(0, maxCharts).map((each) => heldChart(request, each, days))}</div>
`
}

function sortByAsset(held: readonly HeldBalances[]): readonly HeldBalances[] {
  const isOther = ({ assetCode }: HeldBalances) => Number(!(payoutAssetCodes as readonly string[]).includes(assetCode))
  return held.toSorted((one, other) => isOther(one) - isOther(other) || (one.assetCode < other.assetCode ? -1 : 1))
}

/** Amounts of different currencies cannot share an axis, so each currency has its own chart. */
function heldChart({ urlFor }: PageRequest, { assetCode, balances }: HeldBalances, days: readonly string[]): Html {
  const values = balances.map(chartValue)
  const [first, last] = [compactNumber(values[0] ?? 0), compactNumber(values.at(-1) ?? 0)]
  return lineChart({
    id: `held-${assetCode.toLowerCase()}`,
    title: `${assetCode} held in wallets`,
    description: `The ${assetCode} in all wallets at the end of each of the last ${days.length} days: ${first} on the first day, ${last} now.`,
    days,
    series: [
      {
        ...{ name: assetCode, style: 'accent', href: urlFor('/wallets', { currency: assetCode }) },
        ...{ values, figures: balances.map(moneyText) },
      },
    ],
    format: compactNumber,
  })
}
