import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../src/app/open-database.ts'
import { auditBooks } from '../../src/modules/audit/audit.ts'
import { createService } from '../../src/operations/context.ts'

/** One audit of the books: `faults` are the checks that found a contradiction. */
export type Snapshot = { readonly transfers: number; readonly faults: readonly string[] }

// `node auditor.ts <url>` repeatedly audits a database that others write to, for its parent process.
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
  // Leaves CPU time to the server; otherwise consecutive audits see the same state.
  await delay(Math.random() * 20)
}
