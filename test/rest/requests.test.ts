import { describe, expect, test } from 'vitest'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'
import { leastCpuMs } from '../support/cpu.ts'
import { absentId, endpointsForCustomers, walletBody } from './endpoints.ts'

const json = { 'content-type': 'application/json' }

describe.each(everyEngine)('field names in a body on %s', (engine) => {
  test.each(endpointsForCustomers)(
    'ruling 13: $name rejects the field customer_id in any other spelling',
    async ({ method, path, body }) => {
      const app = await startApp(engine)
      const spellings = [
        'customerId',
        'Customer_ID',
        'CUSTOMER-ID',
        'customerid',
        'customer id',
        '_customer_id_',
        'CustomerId',
      ]
      for (const spelling of spellings) {
        const response = await app.rest(method, path, { body: { ...body, [spelling]: null } })
        expect([spelling, response.status]).toEqual([spelling, 400])
        expect(response.body.error.details.fields).toEqual([
          { field: spelling, code: 'INVALID_PARAMETER', message: `${spelling} is not a field: write customer_id` },
        ])
      }
    },
  )

  test.each([
    ['/api/payout/methods/banks', { ...bankMethodBody, sort_code: '', swift_code: '', routing_number: '', iban: '' }],
    ['/api/payout/methods/wallets', { ...walletMethodBody, label: '' }],
    ['/api/wallets', walletBody],
    ['/api/payouts/banks', { ...payoutBody, narration: '', transfer_type: '' }],
  ])('ruling 13: %s rejects a misspelling of any of its fields', async (path, body) => {
    const app = await startApp(engine)
    for (const [field, value] of Object.entries(body)) {
      const spelling = field.toUpperCase()
      const response = await app.rest('POST', path, { body: { ...body, [spelling]: value } })
      expect([response.status, response.body.error?.details.fields[0].field]).toEqual([400, spelling])
    }
  })

  test('ruling 13: a misspelt customer_id is rejected, even together with the right spelling', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const both = { ...walletBody, customerId, customer_id: customerId }
    for (const body of [{ ...walletBody, customerId }, both]) {
      expect((await app.rest('POST', '/api/wallets', { body })).status).toBe(400)
    }
    const { body } = await app.rest('GET', `/api/wallets/${customerId}/customer`)
    expect(body.data).toEqual([])
  })

  test('rulings 3 and 13: a misspelt field is reported once, together with all other errors', async () => {
    const app = await startApp(engine)
    const { account_number, ...rest } = payoutBody
    const body = { ...rest, accountNumber: account_number, amount: true, recipient_country: 'Ghana' }
    const { body: response } = await app.rest('POST', '/api/payouts/banks', { body })
    expect(response.error.details.fields).toEqual([
      {
        field: 'accountNumber',
        code: 'INVALID_PARAMETER',
        message: 'accountNumber is not a field: write account_number',
      },
      { field: 'amount', code: 'INVALID_FORMAT', message: 'amount must be a string' },
      {
        field: 'recipient_country',
        code: 'INVALID_PARAMETER',
        message: 'recipient_country must be one of Nigeria, South Africa',
      },
    ])
  })

  test('ruling 21: an overlong text is rejected before it is normalized, which could take quadratic time', async () => {
    const app = await startApp(engine)
    const pay = async (narration: string) => {
      const { status, body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, narration } })
      expect([status, body.error.details.fields]).toEqual([
        400,
        [{ field: 'narration', code: 'INVALID_PARAMETER', message: 'narration must have at most 255 characters' }],
      ])
    }
    const plain = 'a'.repeat(120_001)
    const hostile = `a${'\u0301\u0316'.repeat(60_000)}`
    // Normalizing it would take a thousand times as long.
    expect(await leastCpuMs(() => pay(hostile))).toBeLessThan(50 * (await leastCpuMs(() => pay(plain))))
    // A text that is too long only before normalization is accepted: 255 letters, each of three code points.
    const composed = 'e\u0323\u0302'.repeat(255)
    const { body: accepted } = await app.rest('POST', '/api/payout/methods/banks', {
      body: { ...bankMethodBody, account_name: composed },
    })
    expect(accepted.data.account_name).toBe('\u1ec7'.repeat(255))
  })

  test('ruling 13: a field that does not resemble a known field is ignored', async () => {
    const app = await startApp(engine)
    const others = { customer: absentId, customer_ids: [absentId], id: absentId, status: 'closed', balance: '1000000' }
    const { status, body } = await app.rest('POST', '/api/wallets', { body: { ...walletBody, ...others } })
    expect([status, body.data.balance, body.data.customer_id]).toEqual([201, '0.00000000', null])
    expect(body.data.id).not.toBe(absentId)
  })

  test('ruling 13: unknown fields such as __proto__ and constructor are ignored', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const payloads = [
      `{"__proto__":{"customer_id":"${customerId}"}}`,
      `{"constructor":{"prototype":{"customer_id":"${customerId}"}}}`,
      '{"toString":1,"valueOf":2,"hasOwnProperty":3,"then":4,"toJSON":5}',
    ]
    for (const payload of payloads) {
      const merged = `${JSON.stringify(walletBody).slice(0, -1)},${payload.slice(1)}`
      const { status, body } = await app.rest('POST', '/api/wallets', { payload: merged, headers: json })
      expect([status, body.data.customer_id]).toEqual([201, null])
    }
    expect(({} as Record<string, unknown>).customer_id).toBeUndefined()
  })

  test('ruling 13: an id in the body is ignored, and the id in the path is used', async () => {
    const app = await startApp(engine)
    const { body: created } = await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
    const { status, body } = await app.rest('PUT', `/api/payout/methods/banks/${created.data.id}`, {
      body: { payout_method_id: absentId, payoutMethodId: absentId, bank_name: 'Zenith' },
    })
    expect([status, body.data.id, body.data.bank_name]).toEqual([200, created.data.id, 'Zenith'])
  })
})

describe.each(everyEngine)('query parameters on %s', (engine) => {
  test.each(['/api/customers', '/api/payout/methods', '/api/asset-codes'])(
    'ruling 14: %s ignores unknown parameters, even repeated ones',
    async (path) => {
      const app = await startApp(engine)
      const query = 'sort=a&sort=b&Page=0&customerId=x&__proto__=1&constructor=2&=3&%zz=4'
      const [plain, odd] = [await app.rest('GET', path), await app.rest('GET', `${path}?${query}`)]
      expect([odd.status, odd.text]).toEqual([200, plain.text])
    },
  )

  test.each([
    ['/api/customers', ['page', 'limit']],
    ['/api/payout/methods', ['customer_id', 'type', 'currency', 'page', 'limit']],
    ['/api/asset-codes', ['asset_type']],
    [`/api/wallets/${absentId}/customer`, ['status', 'asset_type', 'currency', 'page', 'limit']],
  ])('ruling 14: %s rejects a repeated known parameter, even with the same value', async (path, names) => {
    const app = await startApp(engine)
    for (const name of names) {
      for (const value of ['1', '', 'null']) {
        const { status, body } = await app.rest('GET', `${path}?${name}=${value}&x=1&${name}=${value}`)
        expect([status, body.error.details.fields]).toEqual([
          400,
          [{ field: name, code: 'INVALID_PARAMETER', message: `${name} must be given once` }],
        ])
      }
    }
    const all = names.map((name) => `${name}=1&${name}=2`).join('&')
    const { body } = await app.rest('GET', `${path}?${all}`)
    expect(body.error.details.fields.map(({ field }: { field: string }) => field).sort()).toEqual([...names].sort())
  })
})

describe.each(everyEngine)('empty strings on %s', (engine) => {
  test('ruling 20: an empty optional field is stored as null on creation', async () => {
    const app = await startApp(engine)
    const empty = { sort_code: '', swift_code: '  ', routing_number: '', iban: '\t' }
    const bank = await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, ...empty } })
    expect(bank.body.data).toMatchObject({
      customer_id: null,
      sort_code: null,
      swift_code: null,
      routing_number: null,
      iban: null,
    })
    const wallet = await app.rest('POST', '/api/payout/methods/wallets', {
      body: { ...walletMethodBody, label: ' ' },
    })
    expect(wallet.body.data).toMatchObject({ customer_id: null, label: null })
    const fiat = await app.rest('POST', '/api/wallets', {
      body: { currency: 'ZAR', description: 'Rand', network: '' },
    })
    expect(fiat.body.data).toMatchObject({ customer_id: null, addresses: [] })
    await app.wallet({ balance: '100' })
    const payout = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, narration: '', transfer_type: '', payment_purpose: '' },
    })
    expect(payout.body.data).toMatchObject({ customer_id: null, narration: null, transfer_type: 'ach' })
  })

  test('ruling 20: an empty optional field becomes null on update, and an empty required field is rejected', async () => {
    const app = await startApp(engine)
    const filled = { sort_code: '123456', swift_code: 'ABNGNGLA', routing_number: '021000021', iban: 'GB82' }
    const { body: created } = await app.rest('POST', '/api/payout/methods/banks', {
      body: { ...bankMethodBody, ...filled },
    })
    const path = `/api/payout/methods/banks/${created.data.id}`
    const cleared = await app.rest('PUT', path, { body: { sort_code: '', swift_code: null, iban: ' ' } })
    expect(cleared.body.data).toMatchObject({ sort_code: null, swift_code: null, iban: null })
    expect(cleared.body.data.routing_number).toBe('021000021')
    for (const field of Object.keys(bankMethodBody).filter((each) => each !== 'type')) {
      for (const value of ['', null]) {
        const { status, body } = await app.rest('PUT', path, { body: { [field]: value } })
        expect([field, status, body.error.details.fields[0].field]).toEqual([field, 400, field])
      }
    }
    const { body: list } = await app.rest('GET', '/api/payout/methods')
    expect(list.data[0]).toMatchObject(bankMethodBody)
  })
})

describe.each(everyEngine)('text on %s', (engine) => {
  const describedAs = async (description: string) => {
    const app = await startApp(engine)
    const { status, body } = await app.rest('POST', '/api/wallets', { body: { ...walletBody, description } })
    return status === 201 ? body.data.description : [status, body.error.details.fields[0].code]
  }

  test.each([
    ['trimmed', '  Rent \r\n', 'Rent'],
    ['trimmed of a no-break space', '\u00a0Rent\u3000', 'Rent'],
    ['composed', 'Adaobi\u0301', 'Adaobí'],
    ['composed, in Vietnamese', 'Vie\u0323\u0302t', 'Việt'],
    ['composed, in Hangul', '\u1112\u1161\u11ab', '한'],
    ['without compatibility folding', 'ﬁ ² Ⅳ ｱ', 'ﬁ ² Ⅳ ｱ'],
    ['unchanged in Arabic', 'إيجار', 'إيجار'],
    ['unchanged with a direction mark', 'محمد\u200f', 'محمد\u200f'],
    ['unchanged with a zero-width joiner', 'نامه\u200cای', 'نامه\u200cای'],
    ['unchanged with an emoji of several code points', '👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'],
    ['unchanged with markup', '<b>Rent</b> & "more"', '<b>Rent</b> & "more"'],
    ['unchanged with 255 code points', '💸'.repeat(255), '💸'.repeat(255)],
    ['composed, if that makes it 255 code points', 'e\u0301'.repeat(255), 'é'.repeat(255)],
    ['on one line, with spaces for line breaks and tabs', 'a\nb\tc\r\nd', 'a b c d'],
    ['trimmed, if that makes it 255 code points', ` ${'x'.repeat(255)} `, 'x'.repeat(255)],
  ])('ruling 21: an accepted text is stored %s', async (_, description, kept) => {
    expect(await describedAs(description)).toBe(kept)
  })

  test.each([
    ['256 code points', '💸'.repeat(256), 'INVALID_PARAMETER'],
    ['only spaces', ' \u2003\ufeff\t', 'MISSING_REQUIRED_FIELD'],
    ['NUL', 'a\u0000b', 'INVALID_FORMAT'],
    ['NUL at the end', 'Rent\u0000', 'INVALID_FORMAT'],
    ['a bell', 'a\u0007b', 'INVALID_FORMAT'],
    ['delete', 'a\u007fb', 'INVALID_FORMAT'],
    ['a C1 control', 'a\u0085b', 'INVALID_FORMAT'],
    ['a left-to-right override', 'a\u202db', 'INVALID_FORMAT'],
    ['a right-to-left override', 'a\u202eb', 'INVALID_FORMAT'],
    ['an embedding', 'a\u202ab\u202c', 'INVALID_FORMAT'],
    ['an isolate', 'a\u2066b\u2069', 'INVALID_FORMAT'],
    ['a lone high surrogate', 'a\ud83d', 'INVALID_FORMAT'],
    ['a lone low surrogate', '\udcb8a', 'INVALID_FORMAT'],
    ['surrogates in the wrong order', '\udcb8\ud83d', 'INVALID_FORMAT'],
  ])('ruling 21: a text with %s is rejected', async (_, description, code) => {
    // JSON.stringify escapes control characters and lone surrogates and leaves the others.
    expect(await describedAs(description)).toEqual([400, code])
  })

  test('ruling 21: every field of every body rejects control characters, and a label over 100 characters', async () => {
    const app = await startApp(engine)
    const bodies: [string, object][] = [
      [
        '/api/payout/methods/banks',
        { ...bankMethodBody, sort_code: '1', swift_code: '1', routing_number: '1', iban: '1' },
      ],
      ['/api/payout/methods/wallets', { ...walletMethodBody, label: 'x' }],
      ['/api/wallets', walletBody],
      ['/api/payouts/banks', { ...payoutBody, narration: 'x' }],
    ]
    for (const [path, body] of bodies) {
      for (const field of Object.keys(body)) {
        for (const value of ['a\u0000b', 'a\u202eb', 'a\ud800b', 'x'.repeat(256)]) {
          const response = await app.rest('POST', path, { body: { ...body, [field]: value } })
          expect([field, response.status]).toEqual([field, 400])
        }
      }
    }
    const labelled = async (label: string) =>
      (await app.rest('POST', '/api/payout/methods/wallets', { body: { ...walletMethodBody, label } })).status
    expect([await labelled('💸'.repeat(100)), await labelled('💸'.repeat(101))]).toEqual([201, 400])
  })

  test('ruling 21: filters are trimmed and validated like fields of a body', async () => {
    const app = await startApp(engine)
    await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
    const total = async (query: string) =>
      (await app.rest('GET', `/api/payout/methods?${query}`)).body.pagination?.total
    expect(await total('currency=%20NGN%20')).toBe(1)
    expect(await total('currency=%00')).toBeUndefined()
    expect(await total('currency=%E2%80%AE')).toBeUndefined()
    expect(await total('currency=%zz')).toBe(0)
  })
})
