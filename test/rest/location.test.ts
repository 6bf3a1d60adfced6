import { describe, expect, test } from 'vitest'
import { routes } from '../../src/server/rest/routes.ts'
import { everyEngineAndWorkers, startApp } from '../support/app.ts'

test('ruling 1: exactly the creations whose resource GET can return have a Location', () => {
  const readable = routes.filter(({ method }) => method === 'GET').map(({ path }) => path)
  const creations = routes.filter(({ status }) => status === 201)
  expect(creations.length).toBeGreaterThan(3)
  for (const { path, location } of creations) {
    const isReadable = readable.some(
      (each) => each.startsWith(`${path}/:`) && !each.slice(path.length + 2).includes('/'),
    )
    const readAt = /^\/api\/(individual|business)-customers$/.test(path) ? '/api/customers' : isReadable ? path : null
    expect([path, location?.({ id: 'x' }) ?? null]).toEqual([path, readAt && `${readAt}/x`])
  }
  expect(routes.filter(({ status, location }) => status !== 201 && location !== null)).toEqual([])
})

describe.each(everyEngineAndWorkers)('Location on %s', (engine) => {
  test.each([
    ['/api/wallets', { currency: 'NGN', description: 'Naira' }],
    ['/api/webhooks', { url: 'https://example.com/hooks', types: [] }],
  ])('the Location of a creation at %s leads to the resource, also in a replay', async (path, body) => {
    const app = await startApp(engine)
    const headers = { 'idempotency-key': 'once' }
    const created = await app.rest('POST', path, { body, headers })
    expect([created.status, created.headers.location]).toEqual([201, `${path}/${created.body.data.id}`])
    const response = await app.rest('GET', String(created.headers.location))
    expect([response.status, response.body.data.id]).toEqual([200, created.body.data.id])

    const again = await app.rest('POST', path, { body, headers })
    expect([again.headers['idempotent-replayed'], again.headers.location]).toEqual(['true', created.headers.location])
    const rejected = await app.rest('POST', path, { body: {} })
    expect([rejected.status, rejected.headers.location]).toEqual([400, undefined])
  })
})
