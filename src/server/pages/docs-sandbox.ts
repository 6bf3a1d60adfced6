import { sandboxAccounts } from '../../payout-transfers/sandbox-accounts.ts'
import type { Html } from './html.ts'
import { html, prose } from './html.ts'

/** What the page at `/docs` says of the sandbox: what its bank does, by the number of the account. */
export function sandboxPart(): Html {
  return html`<section>
<h2 id="sandbox">Sandbox</h2>
<p>${prose('In the sandbox a bank of our own plays every outcome. The last two digits of `account_number` say what it does with a payout; to any other account a payout stays `PROCESSING` until `simulatePayout` plays the bank.')}</p>
<table>
<thead><tr><th>account_number</th><th>What the bank does</th></tr></thead>
<tbody>${Object.entries(sandboxAccounts)
    .toSorted(([one], [other]) => Number(one) - Number(other))
    .map(([digits, does]) => html`<tr><td><code>99999999${digits}</code></td><td>${does}</td></tr>`)}</tbody>
</table>
<p>${prose('Nothing has to be waited for: the GraphQL mutation `advanceClock`, or the command `clock --by P1D`, moves the clock of the merchant on, and what falls due in the meantime has happened when it answers. The clock goes forward only. Signatures of webhooks keep to the time of the machine.')}</p>
<pre>mutation {
  advanceClock(input: { by: "P1D" }) {
    ... on AdvanceClockPayload { now }
  }
}</pre>
</section>
`
}
