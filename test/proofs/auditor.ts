import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../src/app/open-database.ts'
import { auditBooks } from '../../src/modules/audit/audit.ts'
import { createService } from '../../src/operations/context.ts'

/** What one look at the books told: `faults` are the checks that found a contradiction. */
export type Snapshot = { readonly transfers: number; readonly faults: readonly string[] }

// `node auditor.ts <url>` audits a database that others write to, over and over, for the process that has started it.
const db = await openDatabase({
  url: process.argv[2] as string,
  isReadOnly: true,
  onFatal: (error) => {
    throw error
  },
})
const service = createService({ db, mode: 'sandbox' })
process.on('disconnect', () => process.exit())
for (;;) {
  const { transfers, findings } = await auditBooks(service)
  const faults = findings.filter(({ contradictions }) => contradictions > 0).map(({ check }) => check)
  process.send?.({ transfers, faults } satisfies Snapshot)
  // The server needs the processor too, or each look finds what the last one found.
  await delay(Math.random() * 20)
}
