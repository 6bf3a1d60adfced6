import { describe, expect, test } from 'vitest'
import { everyEngine, startApp } from '../../support/app.ts'

describe.each(everyEngine)('ruling 128: filters of GET /api/customers on %s', (engine) => {
  test('a day is included at both ends, a time at the end is not, and filters combine with pages', async () => {
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
    'the date "%s" is 400 and named at either end',
    async (value) => {
      const app = await startApp(engine)
      const { status, body } = await app.rest('GET', `/api/customers?start_date=${value}&end_date=${value}&page=0`)
      const names = body.error.details.fields.map(({ field }: { field: string }) => field).sort()
      expect([status, names]).toEqual([400, ['end_date', 'page', 'start_date']])
    },
  )
})
