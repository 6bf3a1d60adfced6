import type { AuditResult } from '../modules/audit/audit.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { descriptionList, fiatAmount, idElement, numberColumn, statusBadge, table, timeElement } from './components.ts'
import type { ConsolePage } from './console-page.ts'
import { groupThousands } from './phrases.ts'

export const booksPage: ConsolePage = {
  path: '/books',
  onDemand: { title: 'Run the audit', run: ({ auditRun, service }) => auditRun.run(service) },
  render: async ({ auditRun, onDemandButton }) => {
    const last = auditRun.lastResult()
    return {
      title: 'Books',
      body: html`<p class="faint">The audit recomputes the books of all merchants while the service runs. It reads every payout, so its duration
grows with their number. On SQLite the console answers no other request until it ends.</p>
${onDemandButton()}${last === null ? html`<p class="empty">This console has not run it yet.</p>` : auditResultSection(last)}`,
    }
  },
}

function auditResultSection({ at, result }: { at: string; result: AuditResult }): Html {
  const { balanced, findings, wallets, unchecked } = result
  const rows = findings.map(({ check, contradictions, examples }) => [
    html`${check}`,
    contradictions === 0 ? statusBadge('holds') : statusBadge('contradicts'),
    html`${contradictions}`,
    html`${examples.map((example) => html`${idElement(example)} `)}`,
  ])
  return html`<h2>The last audit, ${timeElement(at)}</h2>
<p class="${balanced ? 'notice' : 'wrong'}" role="status"><strong>${balanced ? 'The books balance.' : 'The books do not balance.'}</strong> ${balanced ? '' : 'Stop the service, keep a copy of the database, and find the cause before anything else is paid.'}</p>
${unchecked === null ? '' : html`<p class="faint">Not checked: ${unchecked}</p>`}
${descriptionList([
  ...Object.entries(wallets).map(
    ([asset, balance]) => [`Total of wallets in ${asset}`, fiatAmount(balance, '')] as const,
  ),
  ['Transfers', html`${groupThousands(result.transfers)}`],
  ['Entries', html`${groupThousands(result.entries)}`],
  ['Payouts', html`${groupThousands(result.payouts)}`],
])}
${table('Checks', ['Check', 'Result', numberColumn('Contradictions'), 'Examples'], rows, 'Nothing was recomputed.')}`
}
