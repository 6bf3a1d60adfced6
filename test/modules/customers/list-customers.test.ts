import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { updateCustomer } from '../../../src/modules/customers/update-customer.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { bearerOptions, tokenFor } from '../client-tokens/support/tokens.ts'

/** Returns the ids and the total of a page. */
async function pageOf(app: App, query: Record<string, string>, request: Parameters<App['rest']>[2] = {}) {
  const { status, body } = await app.rest('GET', `/api/customers?${new URLSearchParams(query)}`, request)
  expect([query, status]).toEqual([query, 200])
  return [body.data.map(({ id }: { id: string }) => id), body.pagination.total]
}

describe.each(everyEngine)('ruling 128: filters of GET /api/customers on %s', (engine) => {
  test('start and end days are inclusive, an end time is exclusive, and filters can be combined with pages', async () => {
    let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    const add = async (time: string, options: Parameters<typeof app.customer>[0] = {}) => {
      nowMs = Date.parse(time)
      return app.customer(options)
    }
    const company = { customerType: 'business', businessName: 'Example Ltd' } as const
    const first = await add('2026-03-01T00:00:00.000Z')
    const second = await add('2026-03-01T23:59:59.999Z', company)
    const third = await add('2026-03-02T00:00:00.000Z')
    const fourth = await add('2026-03-03T12:00:00.000Z', company)
    const found = async (query: string) => {
      const { status, body } = await app.rest('GET', `/api/customers?${query}`)
      expect([query, status]).toEqual([query, 200])
      return [body.data.map(({ id }: { id: string }) => id), body.pagination.total]
    }
    expect(await found('')).toEqual([[fourth, third, second, first], 4])
    expect(await found('customer_type=business')).toEqual([[fourth, second], 2])
    expect(await found('customer_type=Individual&limit=1&page=2')).toEqual([[first], 2])
    expect(await found('start_date=2026-03-01&end_date=2026-03-01')).toEqual([[second, first], 2])
    expect(await found('start_date=2026-03-02')).toEqual([[fourth, third], 2])
    expect(await found('end_date=2026-03-02T00:00:00Z')).toEqual([[second, first], 2])
    expect(await found('end_date=2026-03-02T01:00:00%2B01:00')).toEqual([[second, first], 2])
    expect(await found('start_date=2026-03-02&customer_type=business')).toEqual([[fourth], 1])
    expect(await found('start_date=2026-03-03&end_date=2026-03-01')).toEqual([[], 0])
    expect(await found('end_date=9999-12-31&limit=1')).toEqual([[fourth], 4])
    expect(await found('include_documents=true&start_date=')).toEqual([[fourth, third, second, first], 4])
    const { apiKey } = await app.otherMerchant()
    const other = await app.rest('GET', '/api/customers?start_date=2026-03-01&customer_type=business', { key: apiKey })
    expect([other.body.data, other.body.pagination.total]).toEqual([[], 0])
  })

  test.each(['2026-02-30', '01.03.2026', '2026-03', 'yesterday', '2026-03-01T00:00:00'])(
    'the invalid date "%s" is rejected with 400, and the error has the name of the parameter',
    async (value) => {
      const app = await startApp(engine)
      const { status, body } = await app.rest('GET', `/api/customers?start_date=${value}&end_date=${value}&page=0`)
      const names = body.error.details.fields.map(({ field }: { field: string }) => field).sort()
      expect([status, names]).toEqual([400, ['end_date', 'page', 'start_date']])
    },
  )
})

describe.each(everyEngine)('ruling 128: the filter search of GET /api/customers on %s', (engine) => {
  const startPeople = async () => {
    const app = await startApp(engine)
    const add = (firstName: string, lastName: string, number: number) =>
      app.customer({ firstName, lastName, email: `Person${number}@Example.com`, phone: `+234800000000${number}` })
    const company = { customerType: 'business', firstName: null, lastName: null } as const
    const people = {
      ada: await add('Ada', 'Obi', 1),
      adaeze: await add('Adaeze', 'McDonald', 2),
      firm: await app.customer({ ...company, businessName: 'Obi & 100%_Sons', email: 'obi@sons.example' }),
      ola: await add('Ọlá', 'Adamu', 3),
    }
    return { app, people }
  }

  test('matches complete ids, e-mail addresses and phone numbers, and prefixes of names; the newest customer is first', async () => {
    const { app, people } = await startPeople()
    const { ada, adaeze, firm, ola } = people
    const cases: readonly [search: string, found: readonly string[]][] = [
      [ada, [ada]],
      [ada.toUpperCase(), [ada]],
      ['person2@EXAMPLE.com', [adaeze]],
      ['+234 (800) 000-0003', [ola]],
      ['ada', [ola, adaeze, ada]],
      ['ADA OBI', [ada]],
      ['obi', [firm, ada]],
      ['ọlá a', [ola]],
      [' OBI & 100%_s ', [firm]],
      ['mcd', [adaeze]],
      ['donald', []],
      ['person2', []],
      ['+234800000000', []],
      ['%', []],
      ['_', []],
      ['', [ola, firm, adaeze, ada]],
      ['  ', [ola, firm, adaeze, ada]],
    ]
    for (const [search, found] of cases) {
      expect([search, await pageOf(app, { search })]).toEqual([search, [found, found.length]])
    }
  })

  test('can be combined with pages, types and dates, and uses the current values of customers', async () => {
    const { app, people } = await startPeople()
    const { ada, adaeze, firm, ola } = people
    const search = 'ada'
    expect(await pageOf(app, { search, limit: '2' })).toEqual([[ola, adaeze], 3])
    expect(await pageOf(app, { search, limit: '2', page: '2' })).toEqual([[ada], 3])
    expect(await pageOf(app, { search, limit: '2', page: '3' })).toEqual([[], 3])
    expect(await pageOf(app, { search: 'obi', customer_type: 'business' })).toEqual([[firm], 1])
    expect(await pageOf(app, { search: 'obi', customer_type: 'individual' })).toEqual([[ada], 1])
    expect(await pageOf(app, { search, start_date: '9999-01-01' })).toEqual([[], 0])
    expect(await pageOf(app, { search, end_date: '2020-01-01' })).toEqual([[], 0])
    expect(await pageOf(app, { search, start_date: '2020-01-01', end_date: '9999-01-01' })).toEqual([
      [ola, adaeze, ada],
      3,
    ])

    await perform(updateCustomer, app.context(), { customerId: ada, firstName: 'Zoe', email: 'zoe@example.com' })
    await perform(closeCustomer, app.context(), { customerId: ola })
    expect(await pageOf(app, { search })).toEqual([[ola, adaeze], 2])
    expect(await pageOf(app, { search: 'ZOE@example.com' })).toEqual([[ada], 1])
    expect(await pageOf(app, { search: 'person1@example.com' })).toEqual([[], 0])
  })

  test('finds no customer of another merchant and, for a client token, only the token’s customer', async () => {
    const { app, people } = await startPeople()
    const { apiKey } = await app.otherMerchant()
    const token = await tokenFor(app, people.ada)
    for (const search of ['ada', 'obi', 'person1@example.com', '+2348000000002', people.ada, people.firm]) {
      expect([search, await pageOf(app, { search }, { key: apiKey })]).toEqual([search, [[], 0]])
      const [all] = await pageOf(app, { search })
      const own = all.filter((id: string) => id === people.ada)
      expect([search, await pageOf(app, { search }, bearerOptions(token))]).toEqual([search, [own, own.length]])
    }
  })

  test.each(['x'.repeat(256), 'a\u0000b', 'a\u202eb'])('rejects the value %j with 400', async (search) => {
    const app = await startApp(engine)
    const { status, body } = await app.rest('GET', `/api/customers?search=${encodeURIComponent(search)}`)
    expect([status, body.error.details.fields[0].field]).toEqual([400, 'search'])
  })
})
