import { describe, expect, test } from 'vitest'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'

const parts = { type: 'field' }

describe.each(everyEngine)('ruling 122: field errors in the provider’s form on %s', (engine) => {
  test('the list `errors` has each field of `details.fields` in the same order, with the value that was sent', async () => {
    const app = await startApp(engine)
    const body = { ...payoutBody, customer_id: 'x', recipient_name: '', narration: 7, bank_code: true, amount: [1] }
    const { body: failure, status } = await app.rest('POST', '/api/payouts/banks', { body })
    expect(status).toBe(400)
    expect(Object.keys(failure)).toEqual(['status', 'message', 'error', 'errors', 'request_id'])
    expect(failure.errors.map(({ path, msg }: { path: string; msg: string }) => [path, msg])).toEqual(
      failure.error.details.fields.map(({ field, message }: { field: string; message: string }) => [field, message]),
    )
    const values = failure.errors.map(({ path, value }: { path: string; value: unknown }) => [path, value])
    expect(Object.fromEntries(values)).toEqual({
      customer_id: 'x',
      recipient_name: '',
      narration: 7,
      bank_code: true,
      amount: null,
    })
    expect(failure.errors[0]).toEqual({
      ...parts,
      msg: 'customer_id must be a UUID',
      path: 'customer_id',
      location: 'body',
      value: 'x',
    })
  })

  test('an invalid query parameter has the location `query`, and an invalid idempotency key the location `headers`', async () => {
    const app = await startApp(engine)
    const list = await app.rest('GET', '/api/customers?page=0')
    expect(list.body.errors).toEqual([
      { ...parts, msg: 'page must be an integer of at least 1', path: 'page', location: 'query', value: '0' },
    ])
    const headers = { 'idempotency-key': 'x'.repeat(256) }
    const creation = await app.rest('POST', '/api/payouts/banks', { body: payoutBody, headers })
    expect(creation.body.errors).toMatchObject([{ path: 'Idempotency-Key', location: 'headers', value: null }])
  })

  test('a value that is long, or may be a key, a token, a secret or a URL with a password, is null', async () => {
    const app = await startApp(engine)
    const { apiKey } = app.merchant
    const secrets = [
      apiKey,
      ` ${apiKey} `,
      `whsec_${'a'.repeat(43)}=`,
      'eyJhbGciOiJIUzI1NiJ9.e30.x',
      'x://u:p@h',
      'x'.repeat(256),
    ]
    for (const secret of secrets) {
      const { text, body } = await app.rest('POST', '/api/payouts/banks', {
        body: { ...payoutBody, customer_id: secret },
      })
      expect(body.errors).toMatchObject([{ path: 'customer_id', value: null }])
      expect(text).not.toContain(secret)
    }
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, customer_id: 'x'.repeat(255) },
    })
    expect(body.errors).toMatchObject([{ value: 'x'.repeat(255) }])
  })

  test('an error without fields, and every problem detail, has no list `errors`', async () => {
    const app = await startApp(engine)
    expect((await app.rest('GET', '/api/wallets/none')).body).not.toHaveProperty('errors')
    const problem = await app.rest('GET', '/api/customers?page=0', { headers: { accept: 'application/problem+json' } })
    expect(problem.body.fields).toHaveLength(1)
    expect(problem.body).not.toHaveProperty('errors')
  })
})
