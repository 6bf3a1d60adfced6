import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bodyLimitBytes } from '../../src/server/http/http-errors.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { leastCpuMs } from '../support/cpu.ts'
import { readStoredRows } from '../support/stored.ts'

const json = { 'content-type': 'application/json' }
const opening = 'mutation { createWallet(input: { currency: "NGN", description: "x" }) { __typename } }'

/** A body per API that creates an object. */
const accepted = {
  '/api/wallets': { currency: 'NGN', description: 'x' },
  '/graphql': { query: opening },
}

// These requests are rejected before they reach an engine.
describe.each(everyEngine.slice(0, 1))('a request body on %s', (engine) => {
  test.each(Object.entries(accepted))('a compressed body at %s is rejected', async (path, body) => {
    const app = await startApp(engine)
    const before = await readStoredRows(app)
    for (const coding of ['gzip', 'br', 'deflate', 'zstd', 'x-gzip', 'gzip, identity', 'identity, gzip', 'chunked']) {
      const headers = { ...json, 'content-encoding': coding }
      const response = await app.rest('POST', path, { payload: gzipSync(JSON.stringify(body)), headers })
      expect([coding, response.status, response.headers['accept-encoding']]).toEqual([coding, 415, 'identity'])
      expect(response.text).toContain('"UNSUPPORTED_MEDIA_TYPE"')
      expect(response.text).toContain('A body must not be compressed.')
    }
    expect(await readStoredRows(app)).toEqual(before)
    for (const coding of ['identity', 'Identity', '']) {
      const response = await app.rest('POST', path, { body, headers: { ...json, 'content-encoding': coding } })
      expect([coding, response.status < 300]).toEqual([coding, true])
    }
  })

  test.each(Object.entries(accepted))('a body at %s in a charset other than UTF-8 is rejected', async (path, body) => {
    const app = await startApp(engine)
    const payload = JSON.stringify(body)
    for (const parameters of [
      'charset=utf-16',
      'charset="utf-16le"',
      'Charset=ISO-8859-1',
      'charset=',
      'a=b;charset=x',
      'charset = utf-16',
      'charset=xutf-8',
      'charset=utf-8x',
      'charset="utf-8;x"',
    ]) {
      const headers = { 'content-type': `application/json; ${parameters}` }
      const response = await app.rest('POST', path, { payload, headers })
      expect([parameters, response.status]).toEqual([parameters, 415])
      expect(response.headers['accept-encoding']).toBeUndefined()
      expect(response.text).toContain('A body must be in UTF-8.')
    }
    for (const parameters of ['charset=utf-8', 'charset=UTF-8', 'charset="utf-8"', 'charset=utf8', 'v=1']) {
      const headers = { 'content-type': `application/json; ${parameters}` }
      const response = await app.rest('POST', path, { payload, headers })
      expect([parameters, response.status < 300]).toEqual([parameters, true])
    }
  })

  test.each(['GET', 'HEAD'] as const)(
    'a %s request may have headers that describe a body, which are ignored',
    async (method) => {
      const { server, merchant } = await startApp(engine)
      const headers = {
        'x-api-key': merchant.apiKey,
        'content-encoding': 'gzip',
        'content-type': 'x/y; charset=utf-16',
      }
      expect((await server.inject({ method, url: '/graphql?query={merchant{id}}', headers })).statusCode).toBe(200)
    },
  )

  test.each(Object.entries(accepted))(
    'an invalid Content-Encoding header at %s is rejected in linear time',
    async (path, body) => {
      const app = await startApp(engine)
      // A character that Node keeps at the ends of a header and that a regular expression treats as white space.
      const ask = (character: string) => async () => {
        const headers = { ...json, 'content-encoding': `${character.repeat(15_000)}x` }
        expect((await app.rest('POST', path, { body, headers })).status).toBe(415)
      }
      // Backtracking from each of them would take hundreds of times as long.
      expect(await leastCpuMs(ask('\u00a0'))).toBeLessThan(20 * (await leastCpuMs(ask('y'))))
    },
  )

  // A proxy that still sends would see a reset connection, and respond with 502 instead of passing the 413 on.
  test.each(Object.keys(accepted))(
    'a body that is too large at %s may be sent completely, and the connection serves the next request',
    async (path) => {
      const app = await startApp(engine)
      await app.server.listen({ host: '127.0.0.1', port: 0 })
      const socket = connect((app.server.server.address() as AddressInfo).port, '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      let received = ''
      socket.on('data', (bytes) => {
        received += bytes
      })
      const head = `host: x\r\nx-api-key: ${app.merchant.apiKey}\r\ncontent-type: application/json\r\n`
      const rest = bodyLimitBytes * 4
      for (const [framing, start, end] of [
        [`content-length: ${rest + 1}`, 'x', 'x'.repeat(rest)],
        [
          'transfer-encoding: chunked',
          `${(rest / 2).toString(16)}\r\n${'x'.repeat(rest / 2)}\r\n`,
          '1\r\nx\r\n0\r\n\r\n',
        ],
      ] as const) {
        received = ''
        socket.write(`POST ${path} HTTP/1.1\r\n${head}${framing}\r\n\r\n${start}`)
        await expect.poll(() => received).toContain('"PAYLOAD_TOO_LARGE"')
        received = ''
        socket.write(`${end}GET /livez HTTP/1.1\r\n${head}\r\n`)
        await expect.poll(() => received).toMatch(/^HTTP\/1.1 200 /)
      }
    },
  )

  test('a connection that breaks in the middle of a body is not logged as an unexpected error', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { onLog: (line) => lines.push(line) })
    await app.server.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.server.address() as AddressInfo
    const head = `host: x\r\nx-api-key: ${app.merchant.apiKey}\r\ncontent-type: application/json\r\n`
    const socket = connect(port, '127.0.0.1')
    const [[request]] = (await Promise.all([
      once(app.server.server, 'request'),
      socket.write(`POST /api/wallets HTTP/1.1\r\n${head}content-length: 100\r\n\r\n{"currency":`),
    ])) as unknown as [[IncomingMessage]]
    await expect.poll(() => request.listenerCount('data')).toBeGreaterThan(0)
    const closed = new Promise((resolve) => request.once('close', resolve))
    socket.resetAndDestroy()
    await closed
    await new Promise(setImmediate)
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200)
    expect(lines.join('')).not.toContain('request failed')
  })

  test('a body with a duplicate name is rejected by both APIs and creates nothing', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const before = await readStoredRows(app)
    const payout = JSON.stringify(payoutBody).slice(0, -1)
    const cases: [string, string, string][] = [
      ['/api/payouts/banks', `${payout},"amount":"41"}`, 'amount'],
      ['/api/payouts/banks', `${payout},"amount":"${payoutBody.amount}"}`, 'amount'],
      ['/api/payouts/banks', `${payout},"\\u0061mount":"41"}`, 'amount'],
      ['/api/payouts/banks', `${payout},"note":{"a":1,"a":2}}`, 'note.a'],
      ['/graphql', `{"query":${JSON.stringify(opening)},"variables":{},"variables":{}}`, 'variables'],
      ['/graphql', `{"query":${JSON.stringify(opening)},"variables":{"a":[{"b":1,"b":1}]}}`, 'variables.a.0.b'],
    ]
    for (const [path, payload, name] of cases) {
      const { status, body } = await app.rest('POST', path, { payload, headers: json })
      const { code, fields } = body.error?.details
        ? { ...body.error, ...body.error.details }
        : body.errors[0].extensions
      const fault = { field: name, code: 'INVALID_PARAMETER', message: `${name} must be given once` }
      expect([status, code, fields]).toEqual([400, 'INVALID_INPUT', [fault]])
    }
    const query = new URLSearchParams({ query: '{ merchant { id } }', variables: '{"a":1,"a":2}' })
    const queryResponse = await app.rest('GET', `/graphql?${query}`)
    expect([queryResponse.status, queryResponse.body.errors[0].extensions.fields[0].field]).toEqual([
      400,
      'variables.a',
    ])
    expect(await readStoredRows(app)).toEqual(before)
  })
})
