import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createWallClock } from '../../src/core/ids-and-clock.ts'
import { createHttpRail } from '../../src/modules/rails/adapters/http-rail.ts'
import { exampleBanks, placeForBank } from '../modules/rails/support/example-bank.ts'
import { sampleOrder } from '../modules/rails/support/orders.ts'
import type { Received } from '../modules/webhooks/transport/support/receiver.ts'
import { startReceiver } from '../modules/webhooks/transport/support/receiver.ts'
import { wallTime } from '../support/times.ts'

test('the rail server in TypeScript has fewer than 180 lines and imports only Node.js modules', () => {
  const source = readFileSync(exampleBanks.TypeScript[1], 'utf8')
  expect(source.trimEnd().split('\n').length).toBeLessThan(180)
  const imported = [...source.matchAll(/ from '([^']+)'/g)].map(([, name]) => String(name))
  expect(imported.filter((name) => !name.startsWith('node:'))).toEqual([])
})

test.each(['TypeScript', 'Python'] as const)(
  'the rail server in %s pays an order that it accepted before a restart, and reports the payment',
  async (language) => {
    const place = await placeForBank(language)
    const heard = Promise.withResolvers<Received>()
    const service = await startReceiver((response, received) => {
      response.end()
      heard.resolve(received)
    })
    const rail = createHttpRail({ ...place.at, wallClock: createWallClock() })
    const order = sampleOrder()

    const first = await place.start({ REPORTS_URL: service.url, PAY_AFTER_MS: '1000000' })
    const taken = await rail.submit(order)
    expect(taken).toMatchObject({ state: 'ACCEPTED', reference: expect.any(String) })
    await first.kill()

    await place.start({ REPORTS_URL: service.url, PAY_AFTER_MS: '0' })
    const { headers, body } = await heard.promise
    expect(rail.reports?.verify({ headers, body, now: wallTime(Date.now()) })).toMatch(/^report_/)
    const response = { state: 'COMPLETED', reference: taken.reference, code: null, at: expect.any(String) }
    expect(rail.reports?.read(body)).toEqual([{ id: order.id, ...response }])
    expect(await rail.find(order)).toEqual(response)
    expect(await rail.submit(order)).toEqual(response)
    expect(
      await rail.submit(sampleOrder({ id: '01980c61-0a1b-7c2d-8e3f-405162738491', amount: '1000000.01' })),
    ).toMatchObject({ state: 'REJECTED', code: 'LIMIT_EXCEEDED' })
  },
)
