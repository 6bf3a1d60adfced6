import { timestamp } from '../core/ids.ts'
import type { Audit } from '../modules/audit/audit.ts'
import { audit } from '../modules/audit/audit.ts'
import type { Service } from '../operations/context.ts'

/** The last audit that this console was asked for: what it found, and when. */
export type AuditRun = {
  readonly last: () => { readonly at: string; readonly found: Audit } | null
  /** Recomputes the books; whoever asks meanwhile waits for the same. */
  readonly run: (service: Service) => Promise<void>
}

export function createAuditRun(): AuditRun {
  let last: ReturnType<AuditRun['last']> = null
  let running: Promise<void> | null = null
  return {
    last: () => last,
    run: (service) => {
      running ??= audit(service)
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
