import type { AuditResult } from '../modules/audit/audit.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { descriptionList, idElement, numberColumn, statusBadge, table, timeElement } from './components.ts'
import type { ConsolePage } from './console-page.ts'

/** The books: what an audit finds, with all that it recomputes. */
export const booksPage: ConsolePage = {
  path: '/books',
  onDemand: { title: 'Run the audit', run: ({ auditRun, service }) => auditRun.run(service) },
  render: async ({ auditRun, onDemandButton: lookButton }) => {
    const last = auditRun.lastResult()
    return {
      title: 'Books',
      body: html`<p class="faint">The audit recomputes everything that the books say of themselves, over all merchants, beside the service at work. It reads
all of them: the more payouts there are the longer it takes, and on SQLite the console answers nothing else meanwhile.</p>
${lookButton()}${last === null ? html`<p class="empty">This console has not run it yet.</p>` : auditResultSection(last)}`,
    }
  },
}

function auditResultSection({ at, found }: { at: string; found: AuditResult }): Html {
  const { balanced, findings, wallets, unchecked } = found
  const rows = findings.map(({ check, contradictions, examples }) => [
    html`${check}`,
    contradictions === 0 ? statusBadge('holds') : statusBadge('contradicts'),
    html`${contradictions}`,
    html`${examples.map((example) => html`${idElement(example)} `)}`,
  ])
  return html`<h2>The last audit, ${timeElement(at)}</h2>
<p class="${balanced ? 'notice' : 'wrong'}" role="status"><strong>${balanced ? 'The books balance.' : 'The books contradict themselves.'}</strong> ${balanced ? '' : 'Stop what writes to them, keep a copy, and find out what happened before anything else is paid.'}</p>
${unchecked === null ? '' : html`<p class="faint">Not looked at: ${unchecked}</p>`}
${descriptionList([
  ...Object.entries(wallets).map(
    ([asset, held]) => [`Wallets hold of ${asset}`, html`<span class="money">${held}</span>`] as const,
  ),
  ['Transfers', html`${found.transfers}`],
  ['Entries', html`${found.entries}`],
  ['Payouts', html`${found.payouts}`],
])}
${table('What was recomputed', ['What must hold', 'Result', numberColumn('Contradictions'), 'Such as'], rows, 'Nothing was recomputed.')}`
}
