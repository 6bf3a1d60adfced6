import type { TestOptions } from 'vitest'
import { describe, inject } from 'vitest'

/** A suite about PostgreSQL only; skipped where the platform has no build of it. */
export function describePostgres(name: string, options: TestOptions, suite: () => void): void {
  describe.skipIf(inject('postgresUrl') === null)(name, options, suite)
}
