import type { AddressInfo } from 'node:net'
import { serverAudits } from 'graphql-http'
import { describe, expect, test } from 'vitest'
import { everyEngine, startApp } from '../support/app.ts'

describe.each(everyEngine)('GraphQL over HTTP on %s', (engine) => {
  test('every audit of the specification passes on a server that listens', async () => {
    const app = await startApp(engine)
    await app.server.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.server.address() as AddressInfo
    const fetchFn = (url: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers)
      headers.set('x-api-key', app.merchant.apiKey)
      return fetch(url, { ...init, headers })
    }

    const results = await Promise.all(
      serverAudits({ url: `http://127.0.0.1:${port}/graphql`, fetchFn }).map((audit) => audit.fn()),
    )

    console.log(results.length)
    expect(results.filter((r) => r.status !== 'ok').map((r) => [r.status, r.name, (r as any).reason])).toEqual([])
  })
})
