import { describe, expect, test } from 'vitest'
import type { App } from '../support/app.ts'
import { everyEngineAndWorkers, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody } from '../support/bodies.ts'

const header = 'x-ignored-fields'
const payoutsPath = '/api/payouts/banks'
const banksPath = '/api/payout/methods/banks'

const ignored = async (app: App, body: object) => (await app.rest('POST', payoutsPath, { body })).headers[header]

describe.each(everyEngineAndWorkers)('ruling 103: ignored fields on %s', (engine) => {
  test('ignored fields are listed in a header of successes, replays and failures', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const body = { reference: 'r-1', ...payoutBody, metadata: { order: 7 }, external_id: null }
    const headers = { 'idempotency-key': 'ignored-1' }
    const first = await app.rest('POST', payoutsPath, { body, headers })
    const again = await app.rest('POST', payoutsPath, { body, headers })
    const named = 'reference, metadata, external_id'
    expect([first.status, first.headers[header]]).toEqual([200, named])
    expect([again.text, again.headers[header], again.headers['idempotent-replayed']]).toEqual([
      first.text,
      named,
      'true',
    ])
    // Ignored fields are no part of the fingerprint: the request without them is a replay.
    const without = await app.rest('POST', payoutsPath, { body: payoutBody, headers })
    expect([without.text, without.headers[header]]).toEqual([first.text, undefined])

    const failures = [
      { ...body, amount: 'x' },
      { ...body, amount: '1000' },
      { ...body, customerId: 'misspelt' },
    ]
    for (const failing of failures) {
      const response = await app.rest('POST', payoutsPath, { body: failing })
      expect([response.status >= 400, response.headers[header]]).toEqual([true, named])
    }
    const problem = await app.rest('POST', payoutsPath, {
      body: failures[1],
      headers: { accept: 'application/problem+json' },
    })
    expect([problem.status, problem.headers[header]]).toEqual([422, named])
  })

  test('ignored fields are listed for every method that has a body', async () => {
    const app = await startApp(engine)
    const created = await app.rest('POST', banksPath, { body: { ...bankMethodBody, nickname: 'Main' } })
    const { id } = created.body.data
    const changed = await app.rest('PUT', `${banksPath}/${id}`, { body: { nickname: 'Other', payout_method_id: id } })
    const deleted = await app.rest('DELETE', `/api/payout/methods/${id}`, { body: { reason: 'old' } })
    expect([created, changed, deleted].map(({ headers }) => headers[header])).toEqual([
      'nickname',
      'nickname, payout_method_id',
      'reason',
    ])
  })

  test('the header of ignored fields is absent if all fields are known', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    for (const body of [payoutBody, { ...payoutBody, amount: 'x' }, {}]) {
      expect((await app.rest('POST', payoutsPath, { body })).headers).not.toHaveProperty(header)
    }
  })

  test('the header of ignored fields lists at most ten short names with safe characters, and * for the rest', async () => {
    const app = await startApp(engine)
    const hostile = [
      'a\r\nset-cookie: x=1',
      'a,b',
      'ä',
      '',
      ' ',
      '*',
      'x'.repeat(41),
      '__proto__\u0000',
      '<script>',
      '💸',
    ]
    for (const name of hostile) {
      expect([name, await ignored(app, { ...payoutBody, [name]: 1 })]).toEqual([name, '*'])
    }
    const own = JSON.parse('{"__proto__": 1, "constructor": 1, "toString": 1, "a.b-c_1": 1}')
    expect(await ignored(app, own)).toBe('__proto__, constructor, toString, a.b-c_1')
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, place) => [`field_${place}`, 1]))
    const named = Array.from({ length: 10 }, (_, place) => `field_${place}`)
    expect(await ignored(app, many)).toBe([...named, '*'].join(', '))
    expect(await ignored(app, { ä: 1, reference: 1 })).toBe('reference, *')
  })

  test('a page of an allowed origin can read the header of ignored fields', async () => {
    const app = await startApp(engine, { corsOrigins: ['https://shop.example'] })
    const headers = { origin: 'https://shop.example' }
    const response = await app.rest('POST', payoutsPath, { body: { reference: 1 }, headers })
    expect(String(response.headers['access-control-expose-headers']).split(', ')).toContain(header)
    expect(response.headers[header]).toBe('reference')
  })
})
