import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { securityHeaders } from '../../src/server/http/security-headers.ts'
import { everyEngine, startApp } from '../support/app.ts'

const asStream = { accept: 'text/event-stream' }

// Headers are set before a request reaches an engine.
describe.each(everyEngine.slice(0, 1))('security headers on %s', (engine) => {
  test('the security headers have the documented values, and none of them requires HTTPS', () => {
    expect(securityHeaders).toEqual({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    })
  })

  test.each([
    [200, 'GET', '/api/customers', {}],
    [201, 'POST', '/api/wallets', { body: { currency: 'NGN', description: 'Naira' } }],
    [400, 'POST', '/api/wallets', { body: {} }],
    [400, 'POST', '/api/wallets', { payload: '{', headers: { 'content-type': 'application/json' } }],
    [400, 'POST', '/api/wallets', { body: {}, headers: { accept: 'application/problem+json' } }],
    [401, 'GET', '/api/customers', { key: null }],
    [404, 'GET', '/nowhere', {}],
    [404, 'GET', '/api/customers/%zz', {}],
    [405, 'DELETE', '/api/customers', {}],
    [415, 'POST', '/api/wallets', { payload: 'a=b', headers: { 'content-type': 'text/plain' } }],
    [200, 'GET', '/livez', { key: null }],
    [200, 'GET', '/readyz', { key: null }],
    [200, 'POST', '/graphql', { body: { query: '{merchant {id}}' } }],
    [400, 'POST', '/graphql', { body: {} }],
    [401, 'POST', '/graphql', { body: {}, key: null }],
    [405, 'PUT', '/graphql', {}],
  ] as const)(
    'the response with status %i to %s %s %o has all security headers',
    async (status, method, path, request) => {
      const app = await startApp(engine)
      const response = await app.rest(method, path, request)
      expect(response.status).toBe(status)
      expect(response.headers).toMatchObject(securityHeaders)
    },
  )

  test('the response with a stream has all security headers, and the Cache-Control of a stream', async () => {
    const { server, merchant } = await startApp(engine)
    const headers = { 'x-api-key': merchant.apiKey, ...asStream }
    const response = await server.inject({
      method: 'POST',
      url: '/graphql',
      headers,
      payload: { query: '{merchant {id}}' },
    })
    expect(response.headers).toMatchObject({ ...securityHeaders, 'cache-control': 'no-cache' })
    expect(response.headers['content-type']).toMatch(/^text\/event-stream/)
  })

  test('the Content-Security-Policy of the GraphiQL page allows its script', async () => {
    const { server } = await startApp(engine)
    const response = await server.inject({ url: '/graphql', headers: { accept: 'text/html' } })
    const { 'content-security-policy': policy, 'cache-control': _, ...others } = securityHeaders
    expect(response.headers).toMatchObject({ ...others, 'cache-control': 'private, no-cache' })
    expect(response.headers['content-security-policy']).not.toBe(policy)
    expect(response.headers['content-security-policy']).toMatch(/script-src 'sha256-.*frame-ancestors 'none'/)
  })

  test('the response to bytes that are not HTTP has all security headers', async () => {
    const { server } = await startApp(engine)
    await server.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
    let received = ''
    socket.on('data', (bytes) => {
      received += bytes
    })
    socket.write('HELLO\r\n\r\n')
    await once(socket, 'close')
    expect(received).toMatch(/^HTTP\/1\.1 400 /)
    for (const [name, value] of Object.entries(securityHeaders)) expect(received).toContain(`\r\n${name}: ${value}\r\n`)
  })
})
