import { timestamp } from '../core/ids-and-clock.ts'
import type { AuditResult } from '../modules/audit/audit.ts'
import { auditBooks } from '../modules/audit/audit.ts'
import type { Service } from '../operations/context.ts'

/** The last audit that this console was asked for: what it found, and when. */
export type AuditRun = {
  readonly lastResult: () => { readonly at: string; readonly found: AuditResult } | null
  /** Recomputes the books; whoever asks meanwhile waits for the same. */
  readonly run: (service: Service) => Promise<void>
}

export function createAuditRun(): AuditRun {
  let last: ReturnType<AuditRun['lastResult']> = null
  let running: Promise<void> | null = null
  return {
    lastResult: () => last,
    run: (service) => {
      running ??= auditBooks(service)
        .then((found) => {
          last = { at: timestamp(service.now()), found }
        })
        .finally(() => {
          running = null
        })
      return running
    },
  }
}
