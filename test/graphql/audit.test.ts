import type { AddressInfo } from 'node:net'
import { serverAudits } from 'graphql-http'
import { describe, expect, test } from 'vitest'
import { everyExecutionPath, startApp } from '../support/app.ts'

/** The package had 61 audits when this test was written. */
const auditCount = serverAudits({ url: '' }).length

describe.each(everyExecutionPath)('GraphQL over HTTP on %s, fast path: %s', (engine, hasFastPath) => {
  test(`a listening server passes all ${auditCount} audits of the GraphQL over HTTP specification`, async () => {
    const app = await startApp(engine, { hasFastPath })
    await app.server.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.server.address() as AddressInfo
    const fetchFn = (url: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers)
      headers.set('x-api-key', app.merchant.apiKey)
      return fetch(url, { ...init, headers })
    }

    const audits = serverAudits({ url: `http://127.0.0.1:${port}/graphql`, fetchFn })
    const results = await Promise.all(audits.map((audit) => audit.fn()))

    // A recommendation that is not followed is a `warn`, which counts as a failure here.
    const failed = results.filter(({ status }) => status !== 'ok')
    expect(failed.map((result) => `${result.name}: ${'reason' in result ? result.reason : ''}`)).toEqual([])
    expect(results.length).toBeGreaterThanOrEqual(61)
  })
})
